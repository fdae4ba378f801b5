import Lifecycle

/// What the live schema says about one table.
struct TableShape: Sendable {
    /// As problems and the receipt name it.
    let name: String
    /// In SQL: the table, or its alias inside a statement.
    private(set) var reference: String
    /// Why no rule can be about it, such as `'v' is a view, not a table`.
    var problem: String?
    /// It has rows of its own, also where no rule can be about them.
    var holdsRows = true
    /// At a server, the end of a GRANT to who works here, such as `app.posts TO expunged`.
    var grantee = ""
    /// The GRANT for the table's schema that is missing; empty where none is.
    var schemaGrant = ""
    /// It is in a place where the coverage check looks.
    var isOwn = true
    var canSelect = true
    /// `nil` where only trying it shows.
    var canDelete: Bool?
    /// The role may lock rows (PostgreSQL 15, SELECT).
    var canLock = true
    /// PostgreSQL: partitions or inheriting tables may have rows of it.
    var hasParts = true
    var columns: [ColumnShape] = []
    var foreignKeys: [ForeignKey] = []
    /// The columns of the primary key and of each unique index of all rows.
    var uniqueKeys: [[String]] = []
    /// The columns of each index of all rows, in its order, up to its first expression.
    var indexes: [[String]] = []
    /// What names a row, in SQL; none where the dialect knows it of each table.
    var rowKeys: [String] = []
    /// SQLite: triggers of the application run when its rows change.
    var hasTriggers = false
    /// SQLite: conditions pass over values that are longer than is read.
    var sparesLongValues = false
    /// SQLite: rows have a rowid, the one of ``rowKeys``.
    var hasRowID = false

    init(name: String, reference: String) { (self.name, self.reference) = (name, reference) }

    /// The same table under an alias, for conditions about it.
    func named(_ alias: String) -> TableShape {
        var copy = self
        copy.reference = alias
        return copy
    }

    /// The statement that grants what a rule needs and `lacks` holds for; `nil` for nothing.
    ///
    /// A privilege that only trying it shows is `nil`.
    func grant<Dialect: SQLDialect>(
        for rule: TableRule,
        _ dialect: Dialect.Type,
        _ lacks: (Bool?) -> Bool
    ) -> String? {
        var missing = lacks(canSelect) ? ["SELECT"] : []
        if rule.action == .delete, lacks(canDelete) { missing.append("DELETE") }
        if case .anonymize(let masks) = rule.action {
            let masked = masks.compactMap { Dialect.shape($0.column, in: self)?.name }
            let names = columns.filter { lacks($0.canUpdate) && masked.contains($0.name) }
                .map(\.written).joined(separator: ", ")
            if !names.isEmpty { missing.append("UPDATE (\(names))") }
        }
        let all = grant(missing)
        return all.isEmpty ? nil : all
    }

    private func grant(_ missing: [String]) -> String {
        let own = missing.isEmpty ? [] : ["GRANT \(missing.joined(separator: ", ")) ON \(grantee);"]
        return ([schemaGrant].filter { !$0.isEmpty } + own).joined(separator: " ")
    }

    /// Why its rows cannot be read, with the statement that changes that; `nil` where they can.
    var unreadable: String? {
        canSelect ? nil : "the role may not SELECT from it; run: \(grant(["SELECT"]))"
    }

    /// No two rows have the same values in these columns.
    func isUnique(_ names: [String]) -> Bool {
        let names = Set(names.map { $0.lowercased() })
        return uniqueKeys.contains { key in
            !key.isEmpty && key.allSatisfy { names.contains($0.lowercased()) }
        }
            || names.contains { column($0, ignoringCase: true)?.isUnique ?? false }
    }

    /// An index leads to rows by this column, where a statement names these others, too.
    func isIndexed(_ column: String, beside others: [String] = []) -> Bool {
        let others = Set(others.map { $0.lowercased() }).subtracting([column.lowercased()])
        return indexes.contains { index in
            index.lazy.map { $0.lowercased() }.first { !others.contains($0) } == column.lowercased()
        }
    }

    /// The column as a rule names it.
    func column(_ name: String, ignoringCase: Bool) -> ColumnShape? {
        columns.first {
            $0.name == name || ignoringCase && $0.name.lowercased() == name.lowercased()
        }
    }
}

struct ColumnShape: Sendable {
    let name: String
    /// As declared, or what a domain is made of.
    let type: String
    /// As a problem says it, such as `is of type 'int4'`.
    let typeText: String
    /// The schema that the type is in, where the dialect needs it.
    var typeSchema = ""
    /// How the server compares its texts, where it has a name for that; empty for other types.
    var collation = ""
    /// The type with all its parts, where ``type`` is only its name.
    var declaration = ""
    /// The ids that it can hold.
    let idTypes: Set<IDType>
    /// The times that it can hold.
    let units: Set<CreationColumn.Unit>
    let holdsText: Bool
    /// How it compares texts, when texts with different bytes can be equal.
    var comparison: String?
    /// SQLite: values of other types than the declared one can be stored.
    var isLoose = false
    /// Characters that fit.
    var lengthMax: Int?
    var isNotNull = false
    var isGenerated = false
    /// It is a unique index by itself.
    var isUnique = false
    var isPrimaryKey = false
    var canUpdate = true
    /// At a server, the name in SQL.
    var written = ""

    /// Equal texts have equal bytes.
    var isExact: Bool { comparison == nil }

    /// Texts that differ by their case may be equal; UUIDs are (RFC 9562 §4).
    var foldsCase: Bool {
        guard let comparison else { return idTypes == [.uuid] }
        return comparison != Self.ignoresBlanks && comparison.lowercased() != "compares as rtrim"
            && !collation.contains("_cs")
    }

    /// At a server, texts that differ by their accents may be equal.
    var foldsAccents: Bool { !isExact && comparison != Self.ignoresBlanks && !collation.isEmpty }

    /// The ``comparison`` of a type that is filled up with blanks.
    static let ignoresBlanks = "ignores blanks at the end"
}

struct ForeignKey: Sendable {
    let parent: String
    let childColumns: [String]
    /// The parent's primary key when the schema does not name them.
    let parentColumns: [String]
    /// Upper case, such as `NO ACTION`; empty where the schema declares no key.
    let onDelete: String
    /// The columns that `SET NULL` sets, where it does not set all of them.
    var nulledColumns: [String]?
    /// Those of them that are NOT NULL, see ``TableShape/withKeptColumns``.
    var keptColumns: [String] = []
    /// A row that refers to itself cannot be deleted, though nothing else refers to it.
    var keepsOwnRows = false
    /// The database has checked all rows by it, and checks each change.
    var isEnforced = false
    /// A transaction can have it checked at its end, unless it is `RESTRICT`.
    var isDeferrable = false
    /// A rule follows it: children go first, whatever the key does.
    var isFollowed = false
    /// The child rows go after the parent rows, which refer to them by another key.
    var isReleased = false
    /// Why rows may stay that a cascade should take, such as `trigger 't' may keep them`.
    var keeper: String?
    /// How the child column holds several values of the parent's; `nil` when it is equal to one.
    var inside: InsideValue?

    /// Deleting a parent row deletes the child rows.
    var cascades: Bool { onDelete == "CASCADE" }
    /// Deleting a parent row fails while child rows exist.
    var restricts: Bool { onDelete == "NO ACTION" || onDelete == "RESTRICT" || cannotSetNull }
    /// Deleting a parent row takes the reference away.
    var setsNull: Bool { onDelete == "SET NULL" && !cannotSetNull }
    /// `SET NULL` fails at once, also where the key is deferrable.
    var cannotSetNull: Bool { !keptColumns.isEmpty }
    var isDeclared: Bool { !onDelete.isEmpty }

    /// What the schema says, and why it fails.
    var actionText: String {
        let verb = keptColumns.count == 1 ? "is" : "are"
        let kept = "'" + keptColumns.joined(separator: "', '") + "' \(verb) NOT NULL"
        return "ON DELETE \(onDelete)" + (cannotSetNull ? ", which fails since \(kept)" : "")
    }

    /// Goes on with a sentence about what the key stops; empty where its action says so.
    var refusal: String { cannotSetNull ? " by \(actionText), unless the key is changed" : "" }
}

extension TableShape {
    /// The same, with the columns that its keys cannot set to NULL.
    var withKeptColumns: TableShape {
        var copy = self
        for (index, key) in foreignKeys.enumerated() where key.onDelete == "SET NULL" {
            let nulled = key.nulledColumns ?? key.childColumns
            copy.foreignKeys[index].keptColumns = nulled.filter { name in
                columns.contains { $0.name == name && $0.isNotNull }
            }
        }
        return copy
    }
}

extension TableShape {
    /// The statement that makes an index; names that need no quotes have none.
    func index<Dialect: SQLDialect>(on column: String, _ dialect: Dialect.Type) -> String {
        let isPlain = { (name: Substring) in
            name.utf8.allSatisfy { byte in
                (0x61...0x7a).contains(byte) || (0x30...0x39).contains(byte) || byte == 0x5f
            }
        }
        let words = "\(name).\(column)".map { $0.isLetter || $0.isNumber ? $0 : "_" }
        let table = name.split(separator: ".").allSatisfy(isPlain) ? name : reference
        let quoted = isPlain(column[...]) ? column : Dialect.quoted(column)
        return "CREATE INDEX \(String(words)) ON \(table) (\(quoted))"
    }
}
