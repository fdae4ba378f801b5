import PostgreSQL

/// The statements that a session has prepared, by their common text.
struct PostgreSQLStatements {
    struct Statement {
        let sql: String
        fileprivate(set) var name: String
        /// `unknown` while only NULL was bound: the server chose a type.
        fileprivate(set) var types: [UInt32]
        fileprivate(set) var isPrepared = false
    }

    /// More than the code has; texts that are made for each call are few.
    private static let countMax = 1000

    private var statements: [String: Statement] = [:]
    private var lastNumber = 0

    mutating func find(_ text: String, _ types: [UInt32]) -> Statement {
        if let known = statements[text] {
            guard known.types != types, !Self.fits(types, known.types) else { return known }
        }
        if statements.count >= Self.countMax { statements.removeAll() }
        let old = statements[text]
        lastNumber += 1
        let statement = Statement(
            sql: old?.sql ?? StateDialect.statement(text),
            name: "s\(lastNumber)",
            types: Self.merge(types, old?.types)
        )
        statements[text] = statement
        return statement
    }

    mutating func notePrepared(_ text: String, _ isPrepared: Bool) {
        statements[text]?.isPrepared = isPrepared
    }

    mutating func forget(_ text: String) { statements[text] = nil }

    /// NULL fits any type.
    private static func fits(_ types: [UInt32], _ known: [UInt32]) -> Bool {
        guard types.count == known.count else { return false }
        for index in types.indices
        where types[index] != known[index] && types[index] != PostgreSQLParameters.TypeID.unknown {
            return false
        }
        return true
    }

    private static func merge(_ types: [UInt32], _ old: [UInt32]?) -> [UInt32] {
        guard let old, old.count == types.count else { return types }
        return zip(types, old).map { $0 == PostgreSQLParameters.TypeID.unknown ? $1 : $0 }
    }
}
