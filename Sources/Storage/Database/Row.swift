import Lifecycle

protocol ColumnKey: Sendable {
    /// The only column of a query that has one.
    static var only: Self { get }

    /// The place of the column in the result, from 0.
    func index(in values: RowValues) -> Int32
}

/// A column by its name or alias, for queries that are not on the path of requests.
enum ColumnName: ColumnKey, ExpressibleByStringLiteral {
    case named(StaticString)
    case at(Int32)

    static let only = ColumnName.at(0)

    init(stringLiteral name: StaticString) { self = .named(name) }

    func index(in values: RowValues) -> Int32 {
        switch self {
        case .at(let index): return index
        case .named(let name):
            guard let index = values.index(of: name) else {
                preconditionFailure("the query has no column \(name)")
            }
            return index
        }
    }
}

/// The columns of a table, or of a query, as the cases of an enum.
///
/// `lastLiveAt` is `last_live_at`. The place of a case is its place in the result, so that no row
/// looks a name up.
protocol Columns: ColumnKey, CaseIterable, RawRepresentable<Int32>, Hashable
where AllCases == [Self] {
    /// The beginning of a query, ``makeSelection(of:_:)``.
    ///
    /// An enum whose rows are read on the path of requests stores it.
    static var selection: String { get }
}

extension Columns {
    static var only: Self { allCases[allCases.startIndex] }

    static var selection: String { makeSelection() }

    func index(in values: RowValues) -> Int32 { rawValue }

    var name: String { "\(self)".snakeCased }

    /// The columns as a statement lists them, of a table that the query calls `alias`.
    static func names(of columns: [Self] = allCases, in alias: String? = nil) -> String {
        let prefix = alias.map { $0 + "." } ?? ""
        return columns.map { prefix + $0.name }.joined(separator: ", ")
    }

    /// The beginning of a query; `others` are more than their name.
    static func makeSelection(
        of columns: [Self] = allCases,
        _ others: [Self: String] = [:]
    ) -> String {
        "SELECT " + columns.map { others[$0] ?? $0.name }.joined(separator: ", ") + " "
    }

    static func insertion(of columns: [Self], into table: String) -> String {
        let places = columns.indices.map { "?\($0 + 1)" }.joined(separator: ", ")
        return "INSERT INTO \(table) (\(names(of: columns))) VALUES (\(places))"
    }

    /// The values of a row by column; those that are not named are NULL.
    static func row(_ values: KeyValuePairs<Self, SQLValue>) -> [SQLValue] {
        var row = [SQLValue](repeating: .null, count: allCases.count)
        for (column, value) in values { row[Int(column.rawValue)] = value }
        return row
    }

    /// The first `keyCount` columns find the row.
    ///
    /// `also` has more assignments; those that end in `?` take the values that follow.
    static func update(
        of columns: [Self],
        in table: String,
        keyCount: Int,
        also more: [String] = []
    ) -> String {
        var terms = columns.enumerated().map { "\($0.element.name) = ?\($0.offset + 1)" }
        var next = columns.count
        for term in more {
            if term.hasSuffix("?") { next += 1 }
            terms.append(term.hasSuffix("?") ? term + "\(next)" : term)
        }
        return """
            UPDATE \(table) SET \(terms.dropFirst(keyCount).joined(separator: ", ")) \
            WHERE \(terms.prefix(keyCount).joined(separator: " AND "))
            """
    }
}

typealias SQLRow = Row<ColumnName>

/// The current row of a statement; valid within one step only.
struct Row<Key: ColumnKey> {
    private let values: RowValues

    init(_ values: RowValues) { self.values = values }

    private func place(_ column: Key) -> Int32 { column.index(in: values) }

    /// A column that is looked up by its name is looked up once.
    private func unlessNull<Value>(_ column: Key, _ read: (Int32) -> Value) -> Value? {
        let place = place(column)
        return values.isNull(at: place) ? nil : read(place)
    }

    func isNull(_ column: Key = .only) -> Bool { values.isNull(at: place(column)) }

    func int64(_ column: Key = .only) -> Int64 { values.int64(at: place(column)) }

    func int(_ column: Key = .only) -> Int { Int(int64(column)) }

    func intOrNil(_ column: Key = .only) -> Int? {
        unlessNull(column) { Int(values.int64(at: $0)) }
    }

    func uid(_ column: Key = .only) -> UInt32 { UInt32(truncatingIfNeeded: int64(column)) }

    func bool(_ column: Key = .only) -> Bool { int64(column) != 0 }

    func time(_ column: Key = .only) -> WallTime { WallTime(unixMilliseconds: int64(column)) }

    func timeOrNil(_ column: Key = .only) -> WallTime? {
        unlessNull(column) { WallTime(unixMilliseconds: values.int64(at: $0)) }
    }

    func text(_ column: Key = .only) -> String { values.text(at: place(column)) }

    func textOrNil(_ column: Key = .only) -> String? { unlessNull(column) { values.text(at: $0) } }

    func validText(_ column: Key) -> String? { values.validText(at: place(column)) }

    func typeName(_ column: Key) -> String? { values.typeName(at: place(column)) }

    func blob(_ column: Key = .only) -> [UInt8] { values.blob(at: place(column)) }

    func blobOrNil(_ column: Key = .only) -> [UInt8]? { isNull(column) ? nil : blob(column) }

    /// - Throws: ``StorageError`` of kind `malformed`.
    func id(_ column: Key = .only) throws -> TimeOrderedID {
        guard let id = values.id(at: place(column)) else {
            throw StorageError.malformed("identifier")
        }
        return id
    }

    func requestID(_ column: Key = .only) throws -> RequestID { RequestID(try id(column)) }

    func requestIDOrNil(_ column: Key = .only) throws -> RequestID? {
        isNull(column) ? nil : try requestID(column)
    }

    func identityID(_ column: Key = .only) throws -> IdentityID { IdentityID(try id(column)) }

    func credentialID(_ column: Key = .only) -> CredentialID {
        CredentialID(rowID: int64(column))
    }

    func provider(_ column: Key = .only) -> ProviderName { ProviderName(text(column)) }

    func store(_ column: Key = .only) -> StoreName { StoreName(text(column)) }

    /// - Throws: ``StorageError`` of kind `malformed` for another value.
    func choice<T: RawRepresentable<String>>(_ column: Key = .only, as type: T.Type) throws -> T {
        guard let value = T(rawValue: text(column)) else { throw StorageError.malformed("\(type)") }
        return value
    }

    func choiceOrNil<T: RawRepresentable<String>>(
        _ column: Key = .only,
        as type: T.Type
    ) throws -> T? {
        isNull(column) ? nil : try choice(column, as: type)
    }
}
