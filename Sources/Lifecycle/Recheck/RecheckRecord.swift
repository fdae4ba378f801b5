/// What the rechecks of a completed deletion need: the user id, under a key of its own.
package struct SealedRecheck: Hashable, Sendable {
    /// The deletion.
    package let request: RequestID
    /// The vault key without which ``recheckKey`` opens nothing.
    package let keyID: String
    /// Random bytes of this record alone; without them ``sealedUser`` cannot be opened.
    package let recheckKey: [UInt8]
    package let sealedUser: [UInt8]

    package init(request: RequestID, keyID: String, recheckKey: [UInt8], sealedUser: [UInt8]) {
        self.request = request
        self.keyID = keyID
        self.recheckKey = recheckKey
        self.sealedUser = sealedUser
    }
}

/// A new recheck record.
package struct OpenedRecheck: Hashable, Sendable {
    package let sealed: SealedRecheck
    package let openedAt: WallTime
    /// When its stores are first rechecked.
    package let dueAt: WallTime

    package init(sealed: SealedRecheck, openedAt: WallTime, dueAt: WallTime) {
        self.sealed = sealed
        self.openedAt = openedAt
        self.dueAt = dueAt
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
    /// What the deletion purged, and where data returned.
    package let targets: [TargetName]
    /// Where data is back, as far as is known.
    package let suspects: [Recheck.Found]
    /// After the last recheck: ids of other stores are gone, except those found again.
    package let isReopened: Bool
    /// Of a reopened record: the user is not known, only ids of ``keyNames``.
    package let isNameless: Bool
    /// Of a reopened record: under which names ids were found again.
    package let keyNames: [KeyName]
    package let returnedTo: Set<TargetName>

    package init(
        sealed: SealedRecheck,
        stage: Int,
        openedAt: WallTime,
        dueAt: WallTime,
        cutoff: WallTime,
        targets: [TargetName],
        suspects: [Recheck.Found] = [],
        isReopened: Bool = false,
        isNameless: Bool = false,
        keyNames: [KeyName] = [],
        returnedTo: Set<TargetName> = []
    ) {
        self.sealed = sealed
        self.stage = stage
        (self.openedAt, self.dueAt, self.cutoff) = (openedAt, dueAt, cutoff)
        (self.targets, self.suspects) = (targets, suspects)
        (self.isReopened, self.isNameless) = (isReopened, isNameless)
        (self.keyNames, self.returnedTo) = (keyNames, returnedTo)
    }
}

/// A page of recheck records that are due.
package struct DueRechecks: Sendable {
    package let cases: [DueRecheck]
    /// When the next one becomes due that was not due yet; `nil` when there is none.
    package let nextDueAt: WallTime?

    package init(cases: [DueRecheck], nextDueAt: WallTime?) {
        (self.cases, self.nextDueAt) = (cases, nextDueAt)
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
        self.due = due
        self.recheck = recheck
        self.next = next
    }
}
