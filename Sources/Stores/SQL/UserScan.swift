import Encoding
import Lifecycle

/// Goes through the user ids of one table, a page by a statement of its own.
struct UserScan: Sendable {
    private let idType: IDType
    private let pages: (first: String, next: String)
    /// Where the next page begins; `nil` on the first one.
    private var position: BoundValue?
    private(set) var isAtEnd = false

    init(_ idType: IDType, _ pages: (first: String, next: String)) {
        self.idType = idType
        self.pages = pages
    }

    /// Reads the next page.
    ///
    /// - Returns: The users of its rows, in every spelling that is accepted.
    /// - Throws: ``SQLError``.
    mutating func next(
        _ read: (String, SQLParameters) throws(SQLError) -> [[BoundValue?]]
    ) throws(SQLError) -> [UserID] {
        let sql = position == nil ? pages.first : pages.next
        let rows = try read(sql, SQLParameters(key: position))
        position = rows.last?.first ?? nil
        isAtEnd = rows.count < SQLLimits.pageRows
        return rows.flatMap { row -> [UserID] in
            guard row.count == 3, row[2]?.number == 1, let value = row[1] else { return [] }
            return users(value)
        }
    }

    private func users(_ value: BoundValue) -> [UserID] {
        switch (idType, value) {
        case (.blob, .blob(let bytes)): IDType.spellings(ofBlob: Hexadecimal.text(bytes))
        case (.integer, .integer(let number)): [UserID("\(number)")].compactMap(\.self)
        case (.integer, .real(let number)):
            [Int64(exactly: number).flatMap { UserID("\($0)") }].compactMap(\.self)
        case (_, .text(let bytes)):
            String(validating: bytes, as: UTF8.self).map(users(named:)) ?? []
        default: []
        }
    }

    private func users(named text: String) -> [UserID] {
        switch idType {
        case .blob: IDType.spellings(ofBlob: text)
        case .uuid: IDType.spellings(ofUUID: text)
        case .text, .integer: [UserID(text)].compactMap(\.self)
        }
    }
}
