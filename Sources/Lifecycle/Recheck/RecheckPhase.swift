/// Where a ``RecheckRun`` stands, with what it needs there.
package indirect enum RecheckPhase: Hashable, Sendable {
    case idle
    /// Asks whether the state agrees with the ledger.
    case checkingLedger
    /// Accepts tombstones from outside the state.
    case learning
    /// Finds open deletions that have purged one of these stores.
    case findingOpen(Set<StoreName>)
    /// Has open deletions purge these stores again, a group at a time.
    case restoring([RequestID], in: Set<StoreName>)
    case openingCopy(StoreName, String)
    case checkingCopy(StoreName)
    case loading(after: Int)
    /// Finds requests for which an earlier replay left ids that are not used up.
    case findingLate([RequestID: Tombstone])
    case listing(StoreName, Retry)
    /// Finds what an earlier replay began there; it is over for whom the store does not list.
    case findingBegun(StoreName, besides: Set<[UInt8]>)
    case endingBegun(StoreName, [EndedErasure])
    case checkingHolds(RecheckBatch)
    /// Notes what is about to be purged, durably.
    case noting(RecheckBatch)
    case purging(RecheckBatch)
    case verifying(RecheckBatch)
    case rechecking(RecheckGroup)
    case waiting(until: WallTime, then: RecheckPhase)
    case recording(RecheckBatch, [EndedErasure])
    /// Destroys the ids that led to other stores.
    case forgetting([Tombstone])
    case closing([EndedRecheck])
    case reopening(Reopening)
    /// With when the next recheck is due.
    case ended(next: WallTime?)

    /// What of a sample is recorded.
    package enum Reopening: Hashable, Sendable {
        /// Each deletion whose data is back has rechecks again.
        case returned
        case sampled(StoreReport)
    }

    package var isEnded: Bool { if case .ended = self { true } else { false } }
}

/// What happened to a ``RecheckRun``: the answer to its last effect.
package enum RecheckEvent: Sendable {
    case begin
    /// With what the ledger is alarmed about.
    case readAlarm(String?)
    /// With whether the checkpoint files could be read.
    case learned(isReadable: Bool)
    /// With whether one of the stores was purged or verified by then.
    case foundOpen([RequestID: Bool])
    case restored
    case openedCopy(CopyRefusal?)
    case checkedCopy(problem: String?)
    case loaded([Tombstone], next: Int)
    case loadedDue(DuePage)
    /// The vault has no key, so no recheck record can be opened.
    case vaultSealed
    case foundLate([RequestID])
    case listed(ListAnswer)
    case foundBegun([BegunErasure])
    case readHolds([StoreHold], UsersOnHold)
    /// With those that an earlier replay noted.
    case noted(Set<BegunErasure>)
    case purged([PurgeAnswer])
    case verified([VerifyAnswer])
    case recorded
    case closed([EndedRecheck])
    case reopened([(RequestID, [Recheck.Found])])
    case due
    case failed(String)
}

/// Rechecks that are due.
package struct DuePage: Sendable {
    package let opened: [OpenRecheck]
    package let unopened: [UnopenedRecheck]
    package let pausedStores: Set<StoreName>
    /// When the next one is due that was not due yet.
    package let next: WallTime?

    package init(
        opened: [OpenRecheck] = [],
        unopened: [UnopenedRecheck] = [],
        pausedStores: Set<StoreName> = [],
        next: WallTime? = nil
    ) {
        (self.opened, self.unopened) = (opened, unopened)
        (self.pausedStores, self.next) = (pausedStores, next)
    }
}

/// What a store's list of its users brought.
package enum ListAnswer: Sendable {
    /// Erased ones, with the hash of their tombstones.
    case found([(user: UserID, hash: [UInt8])])
    case unknown(String)
    case failure(EffectFailure)
}

/// Why a drill has no copy: a code for machines, and the same in words.
package struct CopyRefusal: Hashable, Sendable {
    package let code: String
    package let detail: String

    package init(code: String, detail: String) { (self.code, self.detail) = (code, detail) }
}

/// What the engine does for a ``RecheckRun``.
package enum RecheckEffect: Sendable {
    case state(RecheckStateEffect)
    case store(StoreName, StoreView, RecheckStoreEffect)
    case openCopy(StoreName, String)
    case wait(until: WallTime)
    case announce(RecheckAnnouncement)
}

/// A call of a store.
package enum RecheckStoreEffect: Sendable {
    /// Tells what keeps a copy from being used.
    case check
    /// Lists the users who have one of these tombstones, by hash.
    case list([[UInt8]: Tombstone])
    case purge([ErasureOrder], holds: [StoreHold], attempt: String)
    case verify([ErasureOrder])
}

/// What a run reads from the state, and records there.
package enum RecheckStateEffect: Sendable {
    case readAlarm
    case learnTombstones(since: WallTime)
    case findOpen(Set<StoreName>)
    case restore([RequestID], Set<StoreName>, at: WallTime?)
    /// Without a time, those of any time.
    case loadTombstones(since: WallTime?, after: Int, limit: Int)
    case loadDue(limit: Int)
    case findLate(Set<RequestID>)
    case findBegun(StoreName)
    case readHolds(withTombstones: Bool)
    case note([BegunErasure], StoreName)
    case record([EndedErasure], StoreName)
    case forgetLate([Tombstone])
    case close([EndedRecheck])
    case reopen([ReturnedUser], dueAt: WallTime)
    case recordSample(StoreReport)
}

/// A fact about a run that an operator cares about.
package enum RecheckAnnouncement: Sendable {
    case replayBegan(isDrill: Bool)
    case replayEnded(isComplete: Bool, Int)
    case rechecked(EndedRecheck)
    /// A sample found data, and the deletion has rechecks again.
    case reopened(RequestID, [Recheck.Found])
    case sampled(StoreReport)
    case unsearched(StoreName, String)
    case answered(StoreName)
    /// A store cannot be rechecked for longer than ``RecheckRun/overdueAfter``; once a day.
    case overdue(StoreName)
}

/// How a run sees a store.
package enum StoreView: Hashable, Sendable {
    case usual
    /// By the ids that it lists itself.
    case own
    /// By the ids that restored rows of another store name.
    case led
    case copy
}
