/// A recheck that is due, with the user id that it keeps.
package struct OpenRecheck: Hashable, Sendable {
    package let due: DueRecheck
    package let user: UserID

    package init(due: DueRecheck, user: UserID) { (self.due, self.user) = (due, user) }
}

/// A recheck that is due, and whose user id could not be opened.
package struct UnopenedRecheck: Hashable, Sendable {
    package let due: DueRecheck
    /// Why it does not open.
    package let failure: EffectFailure

    package init(due: DueRecheck, failure: EffectFailure) {
        (self.due, self.failure) = (due, failure)
    }

    /// Its bits are damaged, or its vault key is lost; otherwise the key may come back.
    var isLost: Bool { failure == .sealBroken }
}

/// Rechecks that are verified together, each store once for all of them.
package struct RecheckGroup: Hashable, Sendable {
    enum Finding: Hashable, Sendable {
        case clean
        case remaining(Int)
        /// Not configured any more, or no ids are known by which it knows the user.
        case missing
        case unknown(retryAt: WallTime)
    }

    let startedAt: WallTime
    let open: [OpenRecheck]
    let pausedStores: Set<StoreName>
    var ended: [EndedRecheck]
    var findings: [RequestID: [StoreName: Finding]] = [:]
    /// Stores that were not asked yet; the first one is.
    var rest: [StoreName]
    var asked: [OpenRecheck] = []

    init(_ page: DuePage, at now: WallTime) {
        startedAt = now
        open = page.opened
        pausedStores = page.pausedStores
        rest = Set(open.flatMap(\.due.stores)).sorted()
        ended = page.unopened.map { unopened in
            let due = unopened.due
            guard !unopened.isLost else {
                return EndedRecheck(due, Recheck(at: now, .unreadable), next: .closed)
            }
            let later = now + RecheckRun.waitMax
            return EndedRecheck(
                due,
                nil,
                next: .due(later, stage: due.stage, openedAt: due.openedAt)
            )
        }
    }

    var effect: RecheckEffect? {
        guard let name = rest.first, !asked.isEmpty else { return nil }
        let orders = asked.map { asked in
            ErasureOrder(
                request: asked.due.sealed.request,
                user: asked.user,
                cutoff: asked.due.cutoff,
                erasedAt: asked.due.openedAt
            )
        }
        return .store(name, .usual, .verify(orders))
    }

    mutating func note(_ finding: Finding, of recheck: OpenRecheck, in name: StoreName) {
        findings[recheck.due.sealed.request, default: [:]][name] = finding
    }
}
