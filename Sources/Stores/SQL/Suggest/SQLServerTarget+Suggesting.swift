import Engine
import Lifecycle

/// What samples values: the search for unmapped data, and suggested rules.
extension SQLServerTarget {
    nonisolated var location: String? { configuration.location }

    /// Looks through the configured schemas for what looks like user data.
    func coverage() async -> CoverageAnswer {
        let claims = configuration.claims
        return await answering(CoverageAnswer.failure) { signal throws(SQLError) in
            let schema = try connected(signal).schema()
            let rules = schema.resolved(claims).rules
            let choice = SuggestionUser.find(in: schema, rules: rules, named: nil)
            guard case .found(let user) = choice else { return .findings(schema.byName(claims)) }
            guard schema.table(user.table)?.canSelect == true else {
                let reason = "only names were looked at: no SELECT from '\(user.table)'"
                let unread = CoverageFinding(.unread, CoverageFinding.everywhere, reason)
                return .findings(schema.findings(claims) + [unread])
            }
            let sample = try sample(schema, user, rules, signal)
            return .findings(schema.findings(claims, user, sample))
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
                if let reason = schema.table(user.table)?.unreadable {
                    return .refused("'\(user.table)' has the users, and \(reason)")
                }
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
                // A statement that nobody waits for any more may still run.
                if error.kind == .timeout || error.kind == .oversized { dropSession() }
                guard run.skip(after: error) else { throw error }
            }
        }
        return run.end()
    }
}

extension SQLError {
    /// One table cannot be read, and others may.
    var leavesOthers: Bool {
        switch kind {
        case .timeout, .failed, .unfit, .privilege, .locked, .busy, .oversized: true
        case .storage: isOutOfMemory
        case .constraint, .cancelled, .lost, .unreachable, .moved, .readOnly, .schemaChanged,
            .planRefused, .refused, .tls, .badConninfo, .indexLost:
            false
        }
    }
}
