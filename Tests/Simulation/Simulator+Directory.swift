import Engine
import Lifecycle

/// What a directory would do, and what must hold because of it.
extension Simulator {
    mutating func lookUp(_ id: RequestID, at name: ProviderName) {
        guard let row = disk.requests[id] else { return }
        var failure = failure(name)
        if failure == nil, chance(faults.lostAnswerPerMille) { failure = .lost }
        if let failure, bug != .skippedLookup {
            turn([.answered(id, .lookedUp(.failure(failure)), name, failure)])
            return
        }
        let linked = failure == nil ? world.links[row.user] ?? [] : []
        let links = linked.sorted().map { provider in
            LinkedIdentity(
                identity: IdentityID(TimeOrderedID(at: now, entropy: &random)),
                provider: provider,
                isLocal: provider == password,
                subjectHash: SimulatedDisk.subjectHash(of: row.user)
            )
        }
        turn([.answered(id, .lookedUp(.found(links)), name, nil)])
    }

    /// When a purge is let through, every link of the user has a verdict of its own.
    mutating func checkLinks(_ row: SimulatedDisk.Row) {
        let isAbandoned = row.request.revocations.contains {
            $0.provider == directory && $0.verdict == .abandoned
        }
        guard !isAbandoned else { return }
        for provider in world.links[row.user] ?? [] {
            let verdicts = row.request.revocations.filter { $0.provider == provider }
                .compactMap(\.verdict)
            if verdicts.isEmpty {
                world.violations.append("purge before a link to \(provider) was found")
            }
            if provider == password, verdicts != [.nothingToRevoke] {
                world.violations.append("a password was taken for a link")
            }
            // While a plan waits for its approval an operator may give it up before that.
            let isGivenUp = verdicts == [.abandoned] && givenUp.contains(row.request.id)
            if provider == unconfigured, verdicts != [.unrevoked], !isGivenUp {
                world.violations.append("a link that nobody can revoke was not called unrevoked")
            }
        }
    }
}
