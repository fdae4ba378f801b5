package import Lifecycle

/// What samples values: the search for unmapped data, and suggested rules.
extension SQLiteTarget {
    /// Looks through the live schema for what looks like user data.
    package func coverage() async -> CoverageAnswer {
        let claims = configuration.claims
        return await answering(CoverageAnswer.failure) {
            let schema = try await schema()
            let rules = schema.resolved(claims).rules
            let choice = SuggestionUser.find(in: schema, rules: rules, named: nil)
            guard case .found(let user) = choice else { return .findings(schema.byName(claims)) }
            let sample = try await sample(schema, user, rules)
            return .findings(schema.findings(claims, user, sample))
        }
    }

    /// Writes rules for the live schema.
    package func suggestion(userTable: String?) async -> SuggestionAnswer {
        let own = configuration.rules
        return await answering(SuggestionAnswer.failure) {
            let schema = try await schema()
            let rules = schema.resolved(SchemaClaims(rules: own)).rules
            switch SuggestionUser.find(in: schema, rules: rules, named: userTable) {
            case .refused(let reason): return .refused(reason)
            case .found(let user):
                let sample = try await sample(schema, user, nil)
                return .rules(RuleSuggestion.text(schema, user, sample, SQLiteDialect.self))
            }
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
    private func sample(
        _ schema: SQLSchema,
        _ user: SuggestionUser,
        _ rules: [TableRule]?
    ) async throws -> SchemaSample {
        var run = SampleRun<SQLiteDialect>(schema, user, rules)
        let start = clock.uptime()
        while let sql = run.next, clock.uptime() - start < SuggestLimits.total {
            do {
                run.take(
                    try await read { reader in
                        try reader.reading(deadline: SuggestLimits.statement) {
                            () throws(SQLError) -> [[BoundValue?]] in
                            try reader.rows(sql, SQLParameters())
                        }
                    }
                )
            } catch let error as SQLError {
                guard run.skip(after: error) else { throw error }
            }
            try await clock.rest(SQLiteLimits.rest)
        }
        closeIfUnused()
        return run.end()
    }
}
