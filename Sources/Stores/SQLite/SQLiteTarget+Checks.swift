import CSQLiteGuard
package import Engine
package import Lifecycle

extension SQLiteTarget {
    /// What `PRAGMA auto_vacuum` answers for INCREMENTAL.
    private static let incrementalMode = 2
    private static let vacuumProblem =
        "vacuum = \"incremental\" needs a database with PRAGMA auto_vacuum = INCREMENTAL"

    /// Makes the plan that leaves those rows alone, and drops it.
    package func check(_ filter: RowFilter) async -> FilterAnswer {
        await answering(FilterAnswer.failure) {
            let problems = try await examine([filter]).found.problems
            return problems.first.map { .refused($0) } ?? .accepted
        }
    }

    func examine(_ holds: [RowFilter] = []) async throws -> (found: SQLFindings, plan: Plan?) {
        let (rules, clock) = (configuration.workRules(holds: holds), clock)
        return try await read { reader in
            let diagnosis = try SQLiteDiagnosis(reader, rules, at: clock.wall())
            return (found: diagnosis.found, plan: diagnosis.plan)
        }
    }

    /// Compares the configuration with the live schema; another program's lock is an outage.
    package func inspect(withOutages: Bool) async -> TargetFindings {
        var (problems, advice) = SQLiteDirectory.inspect(path: configuration.path)
        // Opening it would make a file wherever the service happens to stand.
        guard configuration.path.hasPrefix("/"), problems.isEmpty else {
            return TargetFindings(problems: problems, advice: advice)
        }
        var isLocked = false
        var uncovered: [CoverageFinding] = []
        do {
            try await letGoOfMoved()
            let (found, plan) = try await examine()
            // Values stored since the plan was made may forbid it now.
            (self.plan, heldPlan) = (plan, nil)
            problems += found.problems
            advice += found.advice
            uncovered = found.uncovered
            if configuration.vacuum == .incremental {
                let mode = try await read { try $0.count("PRAGMA main.auto_vacuum") }
                if mode != Self.incrementalMode { problems.append(Self.vacuumProblem) }
            }
        } catch {
            let error = SQLError(error, target: name)
            forget(after: error)
            isLocked = error.kind == .busy || error.kind == .timeout
            problems.append(error.description)
        }
        if let refusal = newRefusal() {
            problems.append(refusal)
            isLocked = false
        }
        if isLocked && !withOutages { problems = [] }
        return TargetFindings(problems: problems, advice: advice, uncovered: uncovered)
    }

    private func newRefusal() -> String? {
        let path = configuration.path
        let refusals = unsafe csqliteguard_refusals(path)
        guard refusals > guardBaseline else { return nil }
        defer { guardBaseline = refusals }
        let kind = unsafe String(
            cString: csqliteguard_refusal_name(csqliteguard_last_refusal(path))
        )
        return "\(refusals - guardBaseline) accesses beside '\(path)' were refused, the last one:"
            + " \(kind)"
    }
}
