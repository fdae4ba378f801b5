import Lifecycle

/// Something about a server that weakens a promise of the service.
package struct StateCaution: Hashable, Sendable {
    package let reason: String
    package let remedy: String
}

extension StateDatabase {
    /// Looks at a state in PostgreSQL, its server and the rights of the role; changes nothing.
    ///
    /// - Throws: ``StorageError``: `unreachable`, `unopenable`, `otherSchema`.
    package static func examine(
        _ plan: PostgreSQLStatePlan
    ) throws(StorageError) -> (facts: StartFacts, cautions: [StateCaution]) {
        let place = "postgresql schema \(plan.schema)"
        do {
            let connection = PostgreSQLConnection(plan)
            try connection.connect()
            defer { connection.disconnect() }
            try StateSchema.check(connection, place)
            return (try StartFacts(connection), try cautions(connection, plan.schema))
        } catch {
            throw StorageError(error, "examine the state", at: place)
        }
    }

    private static func cautions(
        _ connection: any StateConnection,
        _ schema: String
    ) throws -> [StateCaution] {
        var cautions: [StateCaution] = []
        func warn(_ reason: String, remedy: String) {
            cautions.append(StateCaution(reason: reason, remedy: remedy))
        }
        let foreign = try connection.int(
            """
            SELECT count(*) FROM pg_class
            WHERE relnamespace = CAST(? AS regnamespace) AND relkind = 'r'
              AND NOT pg_has_role(relowner, 'USAGE')
            """,
            [.text(schema)]
        )
        if foreign > 0 {
            warn(
                "the role does not own \(foreign) tables of the state, and only an owner may vacuum"
                    + " what was erased",
                remedy: "run: ALTER TABLE ... OWNER TO the role"
            )
        }
        for name in ["fsync", "full_page_writes"] where try setting(name, connection) == "off" {
            warn(
                "the server runs with \(name) = off: a power cut can lose or damage what was"
                    + " acknowledged",
                remedy: "set \(name) = on"
            )
        }
        let standbys = try connection.int("SELECT count(*) FROM pg_stat_replication")
        if standbys > 0, try setting("synchronous_standby_names", connection) == "" {
            warn(
                "no standby is synchronous: a failover can lose the last commits, and the service"
                    + " then purges nothing until an operator accepts that",
                remedy: "set synchronous_standby_names"
            )
        }
        return cautions
    }

    private static func setting(
        _ name: String,
        _ connection: any StateConnection
    ) throws -> String? {
        try connection.first("SELECT current_setting(?)", [.text(name)]) { $0.text() }
    }
}
