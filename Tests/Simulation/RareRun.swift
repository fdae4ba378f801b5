import Lifecycle

/// What few runs meet; it begins, and ends later.
enum RareRun: CaseIterable {
    case userOnHold, absentVaultKey, lostVaultKey, alarmedLedger, unreadableLedger, drillInCopy
}

extension Simulator {
    /// Drawn from a source of its own, so that lives without any stay as they are.
    mutating func drawRareRuns(seed: UInt64) {
        guard clockError == .zero, !isClockSetAtIntake else { return }
        var source = SeededGenerator(seed: ~seed)
        for rare in RareRun.allCases where Int.random(in: 0..<10, using: &source) == 0 {
            let user = Int.random(in: 1...4, using: &source)
            let begin = Int64.random(in: 900...100_000, using: &source)
            let length = Int64.random(in: 600...100_000, using: &source)
            at(.seconds(begin)) { $0.begin(rare, of: user) }
            at(.seconds(begin + length)) { $0.end(rare, of: user) }
        }
    }

    private mutating func begin(_ rare: RareRun, of user: Int) {
        switch rare {
        case .userOnHold: holdUser(user)
        case .absentVaultKey, .lostVaultKey:
            guard let id = requestID(of: user), disk.runs.records[id] != nil else { return }
            disk.runs.unopened[id] = rare == .lostVaultKey
        case .alarmedLedger: disk.runs.ledger = .alarmed("rolled_back")
        case .unreadableLedger: disk.runs.ledger = .unreadable
        case .drillInCopy:
            makeCopy(of: database, at: "/copy")
            replayUntilDone(
                RunScenario.terms("drill") { terms in
                    (terms.isDrill, terms.store, terms.copy) = (true, database, "/copy")
                }
            )
        }
    }

    private mutating func end(_ rare: RareRun, of user: Int) {
        switch rare {
        case .userOnHold: disk.runs.usersOnHold.remove(user)
        case .absentVaultKey:
            if let id = requestID(of: user) { disk.runs.unopened[id] = nil }
        case .alarmedLedger, .unreadableLedger: disk.runs.ledger = .sound
        case .lostVaultKey, .drillInCopy: break
        }
    }
}
