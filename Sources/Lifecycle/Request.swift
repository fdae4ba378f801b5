/// One request and everything that decides what happens to it: a pure state machine.
///
/// ```
/// delete_account:  accepted → scheduled → revoking → purging → verifying → completed
/// revoke_tokens:   accepted → scheduled → revoking → completed
///                  any open stage ⇄ parked              … → cancelled
/// ```
///
/// ``handle(_:_:in:)`` records the fact, then derives stage, due time and effects from all facts.
/// So nothing depends on the order of answers, and a late one does no harm.
/// Effects run only once the new state is durable.
package struct Request: Hashable, Sendable {
    package let id: RequestID
    package let kind: RequestKind
    /// When the application made it, as it says; never later than `acceptedAt`.
    package internal(set) var createdAt: WallTime
    package internal(set) var acceptedAt: WallTime
    package internal(set) var notBefore: WallTime
    /// The statutory clock; warnings before, alarm after.
    package internal(set) var deadlineAt: WallTime
    /// `revoke_tokens` only: the providers to revoke at; `nil` means all.
    package let providerFilter: Set<ProviderName>?
    /// Login uid of the operator who handed it in; `nil` when an application did, or nobody knows.
    package var submittedBy: UInt32?
    /// Nobody can tell who submitted it: a row of the spool, or a process hidden or gone.
    package var isAnonymous = false
    package var phase: Phase
    package var lookup: LookupWork?
    package var revocations: [Revocation]
    package var purges: [PurgeWork]
    package var isHeld = false
    package var approval: Approval?
    /// An operator decided not to wait for an identity where none is known.
    package var isWithoutIdentities = false
    /// What could not be read since it was accepted, and may hold a credential of the user: `spool`
    /// or `queue` and its name.
    package var unreadSources: Set<String> = []
    /// Set with the first purge intent: no cancel and no further credential after it.
    package var purgeStartedAt: WallTime?
    package var endedAt: WallTime?
    package var crashCount = 0
    /// When it is to be looked at next; `nil` while only an event can move it, and after its end.
    package var dueAt: WallTime?
    /// Why a cancelled request ended, where no operator cancelled it.
    package var endDetail: String?
    /// The end of a `revoke_tokens` whose work a `delete_account` of the same user does.
    package static let merged = "merged"

    package init(
        id: RequestID,
        kind: RequestKind,
        createdAt: WallTime,
        acceptedAt: WallTime,
        notBefore: WallTime,
        deadlineAt: WallTime,
        providerFilter: Set<ProviderName>? = nil,
        identities: [IdentitySnapshot],
        stores: [StoreName],
        directory: ProviderName? = nil
    ) {
        (self.id, self.kind) = (id, kind)
        self.createdAt = min(createdAt, acceptedAt)
        (self.acceptedAt, self.notBefore, self.deadlineAt) = (acceptedAt, notBefore, deadlineAt)
        self.providerFilter = providerFilter
        phase = .open(.accepted)
        lookup = kind == .deleteAccount ? directory.map(LookupWork.init) : nil
        revocations = identities.filter { providerFilter?.contains($0.provider) ?? true }
            .map(Revocation.init)
        purges = kind == .deleteAccount ? stores.map(PurgeWork.init) : []
        dueAt = notBefore
    }

    /// Rows newer than this belong to a later life of the account and are never touched.
    package var cutoff: WallTime { min(createdAt, acceptedAt) }

    /// The same in one store: what a backup brought back is no later life.
    package func cutoff(in work: PurgeWork?) -> WallTime {
        max(cutoff, work?.restoredAt ?? cutoff)
    }

    package var isBusy: Bool {
        lookup?.isBusy ?? false || revocations.contains(where: \.isBusy)
            || purges.contains(where: \.isBusy) || approval?.isBusy ?? false
    }

    package var hasRevokeIntent: Bool {
        revocations.contains { $0.credentials.contains(where: \.hasRevokeIntent) }
    }

    /// Identities without a verdict; a directory that was not asked yet counts as one.
    package var openRevocationCount: Int {
        revocations.count { $0.verdict == nil } + (isLookupOpen ? 1 : 0)
    }

    /// Where the next call goes, by which the backlog is read; `nil` when nothing is to revoke.
    package var lane: ProviderName? {
        guard let stage = phase.stage, stage <= .revoking else { return nil }
        if isLookupOpen { return lookup?.directory }
        guard approval?.isGiven ?? true else { return nil }
        // Asked with every event, so without a copy of the open ones.
        var first: Int?
        for index in revocations.indices where revocations[index].verdict == nil {
            let retryAt = revocations[index].retryAt ?? .distantPast
            guard let before = first,
                retryAt >= revocations[before].retryAt ?? .distantPast
            else {
                first = index
                continue
            }
        }
        return first.map { revocations[$0].provider }
    }
}
