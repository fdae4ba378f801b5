import Lifecycle

/// A search of a live schema for data of users: which rows are sampled, and what they then show.
struct SchemaSearch<Dialect: SQLDialect, Answer> {
    /// `nil` where there is nothing to compare rows with.
    var run: SampleRun<Dialect>?
    let answer: (SchemaSample) -> Answer
}

extension SQLSchema {
    /// Looks for what looks like user data in the application's own tables.
    func coverage<Dialect: SQLDialect>(
        _ claims: SchemaClaims
    ) -> SchemaSearch<Dialect, CoverageAnswer> {
        let rules = resolved(claims).rules
        guard case .found(let user) = SuggestionUser.find(in: self, rules: rules, named: nil)
        else {
            let reason = "only names were looked at: no table of users was recognized"
            let sample = CoverageFinding.samples([CoverageFinding.everywhere: reason])
            return SchemaSearch(run: nil) { _ in .findings(findings(claims) + sample) }
        }
        guard table(user.table)?.canSelect == true else {
            let reason = "only names were looked at: no SELECT from '\(user.table)'"
            let unread = CoverageFinding(.unread, CoverageFinding.everywhere, reason)
            return SchemaSearch(run: nil) { _ in .findings(findings(claims) + [unread]) }
        }
        return SchemaSearch(run: SampleRun(self, user, rules)) { sample in
            .findings(findings(claims, user, sample))
        }
    }

    /// Writes rules, also where a store has none yet.
    func suggestion<Dialect: SQLDialect>(
        _ rules: [TableRule],
        userTable: String?
    ) -> SchemaSearch<Dialect, SuggestionAnswer> {
        let rules = resolved(SchemaClaims(rules: rules)).rules
        switch SuggestionUser.find(in: self, rules: rules, named: userTable) {
        case .refused(let reason):
            return SchemaSearch(run: nil) { _ in .refused(reason) }
        case .found(let user):
            if let cause = table(user.table)?.unreadable {
                let reason = "'\(user.table)' has the users, and \(cause)"
                return SchemaSearch(run: nil) { _ in .refused(reason) }
            }
            return SchemaSearch(run: SampleRun(self, user, nil)) { sample in
                .rules(RuleSuggestion.text(self, user, sample, Dialect.self))
            }
        }
    }
}
