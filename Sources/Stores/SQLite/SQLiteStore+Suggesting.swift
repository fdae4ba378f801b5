package import Lifecycle

/// What samples values: the search for unmapped data, and suggested rules.
extension SQLiteStore {
    package func coverage() async -> CoverageAnswer {
        let claims = configuration.claims
        return await answering(CoverageAnswer.failure) {
            try await sampled(try await schema().coverage(claims))
        }
    }

    package func suggestion(userTable: String?) async -> SuggestionAnswer {
        let rules = configuration.rules
        return await answering(SuggestionAnswer.failure) {
            try await sampled(try await schema().suggestion(rules, userTable: userTable))
        }
    }

    private func schema() async throws -> SQLSchema {
        try await read { reader in
            try reader.reading { () throws(SQLError) -> SQLSchema in
                try SQLiteDiagnosis.schema(reader)
            }
        }
    }

    /// Reads sampled rows, each table in a read transaction of its own: the application may commit
    /// in between.
    private func sampled<Answer>(
        _ search: SchemaSearch<SQLiteDialect, Answer>
    ) async throws -> Answer {
        var run = search.run
        let start = clock.uptime()
        while let sql = run?.next, clock.uptime() - start < SuggestLimits.total {
            do {
                let rows = try await read { reader in
                    try reader.reading(deadline: SuggestLimits.statement) {
                        () throws(SQLError) -> [[BoundValue?]] in
                        try reader.rows(sql, SQLParameters())
                    }
                }
                run?.take(rows)
            } catch let error as SQLError {
                guard run?.skip(after: error) == true else { throw error }
            }
            try await clock.rest(SQLiteLimits.rest)
        }
        closeIfUnused()
        return search.answer(run?.end() ?? SchemaSample())
    }
}
