import Lifecycle

extension StateSchema {
    /// Makes the schema, and all that is in it, in one transaction.
    ///
    /// - Throws: ``PostgreSQLStateError``, such as for a schema that is there already.
    static func create(_ name: String, _ connection: PostgreSQLConnection) throws {
        let isThere = try connection.has(
            "SELECT 1 FROM pg_namespace WHERE nspname = ?",
            [.text(name)]
        )
        guard !isThere else {
            throw PostgreSQLStateError(
                .unopenable,
                "the schema is there already; nothing was changed"
            )
        }
        try connection.begin("BEGIN")
        do {
            try connection.run("CREATE SCHEMA \(name)")
            for statement in postgreSQLStatements { try connection.send(statement, []) }
            try connection.run(
                "INSERT INTO schema_version (id, version) VALUES (1, ?)",
                [.int(versionInPostgreSQL)]
            )
            _ = try connection.commit()
        } catch {
            connection.rollBack()
            throw error
        }
    }

    /// Refuses a schema of another version, and one that was not made yet.
    ///
    /// - Throws: ``StorageError``: `unopenable`, `otherSchema`.
    static func check(_ connection: PostgreSQLConnection, _ place: String) throws {
        let isMade = try connection.has(
            "SELECT 1 WHERE to_regclass('schema_version') IS NOT NULL"
        )
        guard isMade else {
            let cause = "the schema has no state; run 'expunged state init' once"
            throw StorageError(.unopenable, "open the state", at: place, cause: cause)
        }
        let found = try connection.int("SELECT version FROM schema_version")
        guard found == versionInPostgreSQL else {
            throw otherSchema(found, versionInPostgreSQL, at: place)
        }
    }

    static let versionInPostgreSQL = version(of: postgreSQLStatements)

    /// Each is one statement.
    static var postgreSQLStatements: [String] {
        postgreSQLOwn + postgreSQLHosts + tables.map(StateDialect.schema).flatMap(split)
            + postgreSQLPartitions + postgreSQLTriggers + postgreSQLHostTriggers
    }

    /// The partition of a request and of what the vault has follows from the user (``Partition``).
    private static let postgreSQLPartitions = ["requests", "users"].map { table in
        """
        ALTER TABLE \(table) ADD COLUMN partition integer
          GENERATED ALWAYS AS (get_byte(user_hash, 0) & \(Partition.count - 1)) STORED
        """
    }

    /// A statement of a table ends with a semicolon at the end of a line.
    private static func split(_ text: String) -> [String] {
        var statements: [String] = []
        var current = ""
        for line in text.split(separator: "\n") {
            let end = line.lastIndex { $0 != " " }
            guard let end, line[end] == ";" else {
                current += line + "\n"
                continue
            }
            statements.append(current + line[..<end])
            current = ""
        }
        return statements
    }

    /// What only PostgreSQL needs: it comes before the tables.
    private static let postgreSQLOwn = [
        """
        CREATE TABLE schema_version (
          id       bigint PRIMARY KEY CHECK (id = 1),
          version  bigint NOT NULL,
          -- Of this state and its copies, which a backup and a standby are.
          state_id text NOT NULL DEFAULT CAST(gen_random_uuid() AS text)
        )
        """,
        // A row for each host: its process, and how many commits the host has made.
        """
        CREATE TABLE commits (
          host    text COLLATE "C" PRIMARY KEY,
          session bytea NOT NULL,
          number  bigint NOT NULL
        ) WITH (fillfactor = 10)
        """,
        // Before 18 there is no least one of several values of bytea.
        """
        CREATE FUNCTION least_bytea (bytea, bytea) RETURNS bytea LANGUAGE sql IMMUTABLE STRICT
          PARALLEL SAFE AS 'SELECT CASE WHEN $1 < $2 THEN $1 ELSE $2 END'
        """,
        """
        CREATE AGGREGATE min (bytea)
          (SFUNC = least_bytea, STYPE = bytea, SORTOP = <, PARALLEL = SAFE)
        """,
    ]
}
