internal import GRDB

/// What the live schema says about one table.
struct TableShape: Sendable {
    /// The kinds of `PRAGMA table_list`.
    let kind: String
    /// As the schema spells it.
    let name: String
    let isWithoutRowID: Bool
    let isStrict: Bool
    let columns: [ColumnShape]
    let foreignKeys: [ForeignKey]
    /// The first columns of the usable (not partial) indexes, lower-cased.
    let indexedColumns: Set<String>
    /// Columns that alone form a unique index, lower-cased.
    let uniqueColumns: Set<String>

    /// SQLite compares names without regard to ASCII case.
    func column(_ name: String) -> ColumnShape? {
        columns.first { $0.name.lowercased() == name.lowercased() }
    }

    var primaryKey: [ColumnShape] {
        columns.filter { $0.primaryKeyPosition > 0 }
            .sorted { $0.primaryKeyPosition < $1.primaryKeyPosition }
    }

    /// A name that means the rowid and not a column of that name (sqlite.org/rowidtable.html).
    var rowIDName: String? {
        guard !isWithoutRowID else { return nil }
        return ["rowid", "_rowid_", "oid"].first { column($0) == nil }
    }
}

/// One column of a table.
struct ColumnShape: Sendable {
    /// Type affinity (sqlite.org/datatype3.html, 3.1).
    enum Affinity: String, Sendable {
        case text, integer, numeric, real, none
    }

    let name: String
    let declaredType: String
    let affinity: Affinity
    let collation: String
    let isNotNull: Bool
    let isGenerated: Bool
    let primaryKeyPosition: Int

    var isBinary: Bool { collation.lowercased() == "binary" }

    static func affinity(ofDeclaredType type: String, isStrict: Bool) -> Affinity {
        let type = type.uppercased()
        if type.contains("INT") { return .integer }
        if type.contains("CHAR") || type.contains("CLOB") || type.contains("TEXT") { return .text }
        if type.isEmpty || type.contains("BLOB") || (isStrict && type == "ANY") { return .none }
        if type.contains("REAL") || type.contains("FLOA") || type.contains("DOUB") { return .real }
        return .numeric
    }
}
