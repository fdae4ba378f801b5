import GRDB

extension StateSchema {
    /// `PRAGMA application_id`: "exst".
    static let applicationID = 0x6578_7374

    static let versionInSQLite = version(of: tables + triggers)

    /// Makes the tables of an empty file, in one transaction.
    static func create(_ database: Database) throws {
        guard try !database.tableExists("meta") else { return }
        try database.execute(sql: "PRAGMA application_id = \(applicationID)")
        try database.execute(sql: "PRAGMA user_version = \(versionInSQLite)")
        for table in tables + triggers { try database.execute(sql: table) }
    }

    /// Refuses a file of another program or of another schema.
    ///
    /// - Returns: `false` for an empty file.
    /// - Throws: ``StorageError``: `unopenable`, `otherSchema`; or `DatabaseError`.
    static func check(_ database: Database, path: String) throws -> Bool {
        let id = try Int.fetchOne(database, sql: "PRAGMA application_id") ?? 0
        guard id == 0 || id == applicationID else {
            throw StorageError(.unopenable, "open the state", at: path, cause: "not a state file")
        }
        guard try database.tableExists("meta") else { return false }
        let found = try Int.fetchOne(database, sql: "PRAGMA user_version") ?? 0
        guard found == versionInSQLite else { throw otherSchema(found, versionInSQLite, at: path) }
        return true
    }

    static func otherSchema(_ found: Int, _ needed: Int, at place: String) -> StorageError {
        StorageError(
            .otherSchema,
            "open the state",
            at: place,
            cause: """
                it has schema \(found), and this program needs schema \(needed); start the \
                version of expunged that wrote it, or restore a backup of this version
                """
        )
    }
}
