/// What the rechecks of a completed deletion need: the user id, under a key of its own.
package struct SealedRecheck: Hashable, Sendable {
    package let request: RequestID
    /// The vault key without which ``recheckKey`` opens nothing.
    package let keyID: String
    /// Random bytes of this record alone; without them ``sealedUser`` cannot be opened.
    package let recheckKey: [UInt8]
    package let sealedUser: [UInt8]

    package init(request: RequestID, keyID: String, recheckKey: [UInt8], sealedUser: [UInt8]) {
        (self.request, self.keyID) = (request, keyID)
        (self.recheckKey, self.sealedUser) = (recheckKey, sealedUser)
    }
}

/// A new recheck record.
package struct OpenedRecheck: Hashable, Sendable {
    package let sealed: SealedRecheck
    package let openedAt: WallTime
    package let dueAt: WallTime

    package init(sealed: SealedRecheck, openedAt: WallTime, dueAt: WallTime) {
        (self.sealed, self.openedAt, self.dueAt) = (sealed, openedAt, dueAt)
    }
}

/// A recheck record that is due.
package struct DueRecheck: Hashable, Sendable {
    package let sealed: SealedRecheck
    /// How many rechecks were done since it was opened.
    package let stage: Int
    /// When the deletion completed, or data returned.
    package let openedAt: WallTime
    package let dueAt: WallTime
    /// Only rows not newer than this are meant: the cutoff of the purge.
    package let cutoff: WallTime
    package let stores: [StoreName]
    package let suspects: [Recheck.Found]
    /// After the last recheck: ids of other stores are gone, except those found again.
    package let isReopened: Bool
    /// Of a reopened record: the user is not known, only ids of ``keyNames``.
    package let isNameless: Bool
    /// Of a reopened record: under which names ids were found again.
    package let keyNames: [KeyName]
    package let returnedTo: Set<StoreName>

    package init(
        sealed: SealedRecheck,
        stage: Int,
        openedAt: WallTime,
        dueAt: WallTime,
        cutoff: WallTime,
        stores: [StoreName],
        suspects: [Recheck.Found] = [],
        isReopened: Bool = false,
        isNameless: Bool = false,
        keyNames: [KeyName] = [],
        returnedTo: Set<StoreName> = []
    ) {
        (self.sealed, self.stage) = (sealed, stage)
        (self.openedAt, self.dueAt, self.cutoff) = (openedAt, dueAt, cutoff)
        (self.stores, self.suspects) = (stores, suspects)
        (self.isReopened, self.isNameless) = (isReopened, isNameless)
        (self.keyNames, self.returnedTo) = (keyNames, returnedTo)
    }
}

/// A page of recheck records that are due.
package struct DueRechecks: Sendable {
    package let rechecks: [DueRecheck]
    /// When the next one becomes due that was not due yet; `nil` when there is none.
    package let nextDueAt: WallTime?

    package init(rechecks: [DueRecheck], nextDueAt: WallTime?) {
        (self.rechecks, self.nextDueAt) = (rechecks, nextDueAt)
    }
}

/// How a recheck ended.
package struct EndedRecheck: Hashable, Sendable {
    /// What comes next.
    package enum Next: Hashable, Sendable {
        case due(WallTime, stage: Int, openedAt: WallTime)
        /// The last recheck is done: the key is destroyed.
        case closed
    }

    package let due: DueRecheck
    /// `nil` when a store could not be asked.
    package let recheck: Recheck?
    package let next: Next

    package init(_ due: DueRecheck, _ recheck: Recheck?, next: Next) {
        (self.due, self.recheck, self.next) = (due, recheck, next)
    }
}

/// What is known of a completed deletion whose data returned.
package struct KnownRecheck: Hashable, Sendable {
    private let rechecks: [Recheck]
    private let isOpen: Bool
    private let isReopened: Bool
    private let isNameless: Bool
    private let isReturned: Bool

    package init(
        rechecks: [Recheck],
        isOpen: Bool,
        isReopened: Bool,
        isNameless: Bool,
        isReturned: Bool
    ) {
        (self.rechecks, self.isOpen, self.isReopened) = (rechecks, isOpen, isReopened)
        (self.isNameless, self.isReturned) = (isNameless, isReturned)
    }

    /// What the reopened record says was found, with what is still to be checked.
    ///
    /// `nil` leaves the record: further rechecks find it, an operator ended them, or all is known.
    package func found(
        with found: [Recheck.Found],
        isNameless: Bool,
        hasNewKeys: Bool,
        canReopen: Bool
    ) -> [Recheck.Found]? {
        guard rechecks.last?.outcome != .abandoned else { return nil }
        guard isOpen else { return found }
        let last = rechecks.last { $0.outcome == .returned }?.found ?? []
        let before = isReturned ? last : []
        let isNew =
            hasNewKeys || (self.isNameless && !isNameless)
            || !found.allSatisfy { found in before.contains { $0.store == found.store } }
        guard isReopened, isNew, canReopen else { return nil }
        return found + before.filter { old in !found.contains { $0.store == old.store } }
    }
}

extension EndedRecheck {
    /// Since when data is known to have returned; `known` is what the record says so far.
    ///
    /// The first time stays until a recheck finds nothing.
    package func returnedSince(_ known: WallTime?) -> WallTime? {
        guard let recheck else { return known }
        return switch recheck.outcome {
        case .returned: known ?? recheck.at
        case .clean: nil
        case .unverified, .unreadable, .abandoned: known
        }
    }
}

/// What one recheck of a completed deletion found.
package struct Recheck: Hashable, Sendable {
    /// The result.
    package enum Outcome: String, Sendable, CaseIterable {
        case clean
        case returned
        /// None of its stores can be asked any more, or not the one that had data again.
        case unverified
        /// Its vault key is lost, or its bits are damaged: nothing can be rechecked.
        case unreadable
        case abandoned
    }

    /// What was found in one store.
    package struct Found: Hashable, Sendable {
        package let store: StoreName
        package let rowCount: Int

        package init(store: StoreName, rowCount: Int) {
            (self.store, self.rowCount) = (store, rowCount)
        }
    }

    package let at: WallTime
    package let outcome: Outcome
    package var found: [Found]
    /// Stores that cannot be asked: not configured any more, or without the ids that they know.
    package var missing: [StoreName]

    package init(
        at: WallTime,
        _ outcome: Outcome,
        found: [Found] = [],
        missing: [StoreName] = []
    ) {
        (self.at, self.outcome, self.found, self.missing) = (at, outcome, found, missing)
    }
}
