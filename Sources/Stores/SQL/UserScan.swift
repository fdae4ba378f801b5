import Encoding
import Lifecycle

/// Goes through the user ids of one table, a page by a statement of its own.
struct UserScan: Sendable {
    private let table: String
    private let idType: IDType
    /// The id is made of several columns, and read as a whole.
    private let isComposite: Bool
    private let pages: (first: String, next: String)
    /// Where the next page begins; `nil` on the first one.
    private var position: BoundValue?
    private(set) var isAtEnd = false

    init<Dialect: SQLDialect>(_ rule: TableRule, _ table: TableShape, _ dialect: Dialect.Type) {
        self.table = rule.table
        idType = rule.idType
        isComposite = rule.idTemplate != nil
        pages =
            rule.idTemplate.map { Self.pages(of: $0, table, Dialect.self) }
            ?? Dialect.pages(rule, table)
    }

    /// By the whole id, which reads the table once for each page.
    private static func pages<Dialect: SQLDialect>(
        of template: IDTemplate,
        _ table: TableShape,
        _ dialect: Dialect.Type
    ) -> (first: String, next: String) {
        var texts = [template.texts.first ?? ""].map { Dialect.literal($0) }
        var isThere: [String] = []
        for (part, text) in zip(template.parts, template.texts.dropFirst()) {
            let column = Dialect.column(part.column, of: table.reference)
            texts += [Dialect.text(column), Dialect.literal(text)]
            isThere.append("\(column) IS NOT NULL")
        }
        let id = Dialect.joined(texts)
        let sql = { (condition: String) in
            """
            SELECT k, k, 1 FROM (SELECT DISTINCT \(id) AS k FROM \(table.reference) WHERE \
            \(isThere.joined(separator: " AND "))\(condition) ORDER BY k \
            LIMIT \(SQLLimits.pageRows)) AS q ORDER BY k
            """
        }
        return (first: sql(""), next: sql(" AND \(id) > \(Dialect.key)"))
    }

    /// Reads the next page.
    ///
    /// - Returns: The users of its rows, in every spelling that is accepted.
    mutating func next(
        _ read: (String, SQLParameters) throws(SQLError) -> [[BoundValue?]]
    ) throws(SQLError) -> [UserID] {
        let sql = position == nil ? pages.first : pages.next
        let rows: [[BoundValue?]]
        do throws(SQLError) { rows = try read(sql, SQLParameters(key: position)) } catch {
            throw error.sized(at: table)
        }
        position = rows.last?.first ?? nil
        isAtEnd = rows.count < SQLLimits.pageRows
        return rows.flatMap { row -> [UserID] in
            guard row.count == 3, row[2]?.number == 1, let value = row[1] else { return [] }
            return users(value)
        }
    }

    private func users(_ value: BoundValue) -> [UserID] {
        switch (idType, value) {
        case (_, .text(let bytes)) where isComposite:
            String(validating: bytes, as: UTF8.self).flatMap { UserID($0) }.map { [$0] } ?? []
        case (.blob, .blob(let bytes)): IDType.spellings(ofBlob: Hexadecimal.text(bytes))
        case (.integer, .integer(let number)), (.mixed, .integer(let number)):
            [UserID("\(number)")].compactMap(\.self)
        case (.integer, .real(let number)), (.mixed, .real(let number)):
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
        case .text, .integer, .mixed: [UserID(text)].compactMap(\.self)
        }
    }
}
