import Lifecycle

@testable import Engine

/// What hosts write into the state that they share, and read there.
extension Simulator {
    var rules: SharedRules {
        SharedRules(version: disk.shared.rulesVersion, pauses: disk.pauses)
    }

    // MARK: Commits

    /// The connection may break before the commit takes effect, after it, or while it is on its
    /// way.
    mutating func commit(_ changes: [StateChange], under claims: [PartitionClaim]) {
        guard chance(2 * faults.connectionPerMille) else {
            return answer(outcome(of: changes, under: claims), claims)
        }
        switch Int.random(in: 0..<3, using: &random) {
        case 0: break
        case 1: _ = outcome(of: changes, under: claims)
        default:
            order += 1
            disk.shared.flying[order] = SharedTables.Flying(
                host: current,
                changes: changes,
                claims: claims
            )
            schedule(.host(.land(order)), after: latency(30_000))
        }
        answer(.inDoubt, claims)
    }

    private mutating func answer(_ outcome: CommitOutcome, _ claims: [PartitionClaim]) {
        switch outcome {
        case .committed(let updates): turn([.committed(updates)])
        case .refused(let refusal): refuse(refusal)
        case .inDoubt: refuse(CommitRefusal(lost: claims))
        }
    }

    private mutating func refuse(_ refusal: CommitRefusal) {
        turn([.refused(refusal)])
        if !hosts[current].isDown { lease(.refused(refusal.lost)) }
    }

    mutating func outcome(
        of changes: [StateChange],
        under claims: [PartitionClaim],
        by host: Int? = nil
    ) -> CommitOutcome {
        let before = disk.shared.rulesVersion
        let outcome = disk.commit(
            changes,
            under: claims,
            by: host ?? current,
            guardMax: configuration.purgesPerHourMax,
            at: clock,
            bug: bug
        )
        if disk.shared.rulesVersion != before { noteHolds(in: changes) }
        world.violations += disk.shared.violations
        disk.shared.violations = []
        readAnswers()
        scheduleRechecks()
        return outcome
    }

    /// A transaction that the database still works on: a new epoch waits for it.
    mutating func land(_ number: Int) {
        guard let flying = disk.shared.flying.removeValue(forKey: number) else { return }
        guard Bool.random(using: &random) else { return }
        _ = outcome(of: flying.changes, under: flying.claims, by: flying.host)
    }

    /// The new token of a refresh, under the epoch that the host has by now.
    mutating func keepShared(_ kept: Keep) {
        guard let identity = disk.identity(of: kept.credential),
            let user = disk.identities[identity]?.user
        else { return }
        let partition = Partition(userHash: Self.hash(of: user))
        let claims = core.ownership.claims(of: PartitionSet([partition])) ?? []
        let token = SealedToken(
            kind: .refreshToken,
            rowNonce: [],
            sealedSecret: Array(kept.token.utf8),
            fingerprint: [],
            expiresAt: nil
        )
        let change = StateChange.rotate(kept.credential, token, at: clock)
        guard !claims.isEmpty, case .committed = outcome(of: [change], under: claims) else {
            var again = kept
            again.tries += 1
            if again.tries < 20 {
                schedule(.keep(again), after: .milliseconds(250))
            } else {
                world.unheard.insert(kept.token)
                turn([kept.read.map { .under($0, kept.answer) } ?? kept.answer])
            }
            return
        }
        disk.noteUpdate(of: identity, at: clock)
        if let update = disk.update(of: identity) { turn([.update(update)]) }
        guard !hosts[current].isDown else { return }
        turn([kept.read.map { .under($0, kept.answer) } ?? kept.answer])
    }

    // MARK: Rows for owners

    /// An operation of the current host for the owner of a request.
    mutating func submitRow(_ id: RequestID, _ event: RequestEvent, _ number: UInt64) {
        guard let partition = disk.partition(of: id) else { return }
        submitted.insert(number)
        disk.shared.submit(.operate(id, event), to: partition, number: number)
        mail()
    }

    /// A credential arrived for a user whose requests another host may work on.
    mutating func mail(_ identity: IdentityID) {
        guard isShared, let user = disk.identities[identity]?.user else { return }
        let hash = Self.hash(of: user)
        disk.shared.submit(
            .learn(identity, of: hash),
            to: Partition(userHash: hash),
            number: random.next() | 1
        )
        mail()
    }

    /// A hint to every host; some are lost, and a renewal finds the row.
    mutating func mail() {
        disk.shared.mailCount += 1
        let host = current
        for other in hosts.indices where !hosts[other].isDown && !chance(200) {
            current = other
            schedule(.input(.mailed), after: latency(20))
        }
        current = host
    }

    mutating func readInbox(_ read: ReadNumber, _ partitions: PartitionSet) {
        if chance(faults.connectionPerMille) {
            return schedule(.perform(.readInbox(read, partitions)), after: .milliseconds(250))
        }
        let inbox = disk.inbox(of: partitions)
        if bug == .lostOperation {
            for row in inbox.operations { disk.shared.operations[row.id] = nil }
        }
        turn([.inbox(read, inbox)])
    }

    /// Callers read the answers of owners.
    private mutating func readAnswers() {
        for operation in disk.shared.operations.values {
            if let answer = operation.answer { outcomes[operation.number] = answer }
        }
    }

    // MARK: Rules

    /// Remembers which version of the rules has a hold.
    private mutating func noteHolds(in changes: [StateChange]) {
        for case .placeHold(let hold) in changes {
            holdVersions[hold.name] = disk.shared.rulesVersion
        }
    }

    func isObeyed(_ hold: StoreHold) -> Bool {
        guard let version = holdVersions[hold.name] else { return false }
        return disk.shared.rulesSeenByAll(at: leaseTime) >= version
    }

    // MARK: Invariants

    /// H-6: a partition that is given back has nothing under way.
    mutating func checkRelease(_ claims: [PartitionClaim]) {
        guard faults.callLatencyMaxMs < 5000 else { return }
        let released = PartitionSet(claims.map(\.partition))
        for item in pending where item.host == current {
            guard case .host(.perform(let action, _)) = item.occurrence else { continue }
            if partitions(of: action).contains(where: released.contains) {
                world.violations.append("H-6: given back with a call under way")
            }
        }
    }

    /// H-4: every operation is answered in the end.
    mutating func checkOperations() {
        for number in submitted
        where !disk.shared.operations.values.contains(where: {
            $0.number == number && $0.answer != nil
        }) {
            world.violations.append("H-4: an operation was never answered")
        }
    }
}
