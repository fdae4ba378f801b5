import Engine
import Lifecycle

/// What samples values: the search for unmapped data, and suggested rules.
extension SQLServerTarget {
    /// Looks through the configured schemas for what looks like user data.
    func coverage() async -> CoverageAnswer {
        let claims = configuration.claims
        return await answering(CoverageAnswer.failure) { signal throws(SQLError) in
            let schema = try connected(signal).schema()
            let rules = schema.resolved(claims).rules
            let choice = SuggestionUser.find(in: schema, rules: rules, named: nil)
            guard case .found(let user) = choice else {
                return .findings(schema.findings(claims) + schema.unread)
            }
            let sample = try sample(schema, user, rules, signal)
            return .findings(schema.findings(claims, user, sample) + schema.unread)
        }
    }

    /// Writes rules for the live schema.
    func suggestion(userTable: String?) async -> SuggestionAnswer {
        await answering(SuggestionAnswer.failure) { signal throws(SQLError) in
            let schema = try connected(signal).schema()
            let rules = schema.resolved(SchemaClaims(rules: configuration.rules)).rules
            switch SuggestionUser.find(in: schema, rules: rules, named: userTable) {
            case .refused(let reason): return .refused(reason)
            case .found(let user):
                let sample = try sample(schema, user, nil, signal)
                return .rules(RuleSuggestion.text(schema, user, sample, Session.Dialect.self))
            }
        }
    }

    /// Reads sampled rows, a statement for each table.
    private func sample(
        _ schema: SQLSchema,
        _ user: SuggestionUser,
        _ rules: [TableRule]?,
        _ signal: CancelSignal
    ) throws(SQLError) -> SchemaSample {
        var run = SampleRun<Session.Dialect>(schema, user, rules)
        let start = clock.uptime()
        while let sql = run.next, clock.uptime() - start < SuggestLimits.total {
            do throws(SQLError) {
                run.take(try connected(signal).rows(sql, SQLParameters()))
            } catch {
                guard error.leavesOthers else { throw error }
                run.skip()
                // A statement that nobody waits for any more may still run.
                if error.kind == .timeout { dropSession() }
            }
        }
        return run.end()
    }
}

extension SQLError {
    /// One table cannot be read, and others may.
    var leavesOthers: Bool {
        switch kind {
        case .timeout, .failed, .unfit, .privilege, .locked, .busy: true
        case .storage, .constraint, .cancelled, .lost, .unreachable, .moved, .readOnly,
            .schemaChanged, .planRefused, .refused, .tls, .badConninfo, .indexLost:
            false
        }
    }
}

extension SQLSchema {
    /// Tables of which only the names could be looked at.
    fileprivate var unread: [CoverageFinding] {
        tables.filter { $0.isOwn && $0.problem == nil && !$0.canSelect }
            .map { table in
                CoverageFinding(
                    name: table.name,
                    reason: "the role may not SELECT from it: only names were looked at",
                    isCovered: true,
                    isSample: true
                )
            }
    }
}
