import Lifecycle

/// One row of the phase table: a way to be in a phase, reached through events alone.
enum PhaseRow: Hashable, CaseIterable {
    /// What is under way, or waited for, in an open or parked stage.
    enum Situation: String, CaseIterable {
        case accepted, scheduled
        case checking = "revoking, check"
        case revoking = "revoking, revoke"
        case confirming = "revoking, confirm"
        case waiting = "revoking, timer"
        case code = "revoking, code"
        case planning = "revoking, plan"
        case planningAgain = "purging, plan"
        case purging, verifying

        var stage: Stage {
            switch self {
            case .accepted: .accepted
            case .scheduled: .scheduled
            case .checking, .revoking, .confirming, .waiting, .code, .planning: .revoking
            case .planningAgain, .purging: .purging
            case .verifying: .verifying
            }
        }
    }

    case open(Situation)
    case parked(Stage, ParkReason)
    case completed
    case cancelled

    static var allCases: [PhaseRow] {
        Situation.allCases.map(PhaseRow.open)
            + Stage.allCases.flatMap { stage in
                ParkReason.allCases.filter { canPark(stage, $0) }.map { .parked(stage, $0) }
            } + [.completed, .cancelled]
    }

    /// Which stage may wait for which event.
    static func canPark(_ stage: Stage, _ reason: ParkReason) -> Bool {
        switch reason {
        case .onHold, .vaultSealed, .quarantined, .clockBehind: true
        case .awaitingSpool, .awaitingCredentials: stage <= .revoking
        case .needsReauthentication, .providerPaused, .unknownProvider, .sharedIdentity:
            stage == .revoking
        case .massDeletionGuard: stage == .purging
        case .storePaused: stage >= .purging
        case .withoutKeys: stage == .verifying
        case .awaitingApproval: stage == .revoking || stage == .purging
        }
    }

    var name: String {
        switch self {
        case .open(let situation): situation.rawValue
        case .parked(let stage, let reason): "\(stage.rawValue)/\(reason.rawValue)"
        case .completed: "completed"
        case .cancelled: "cancelled"
        }
    }

    /// Whether a `revoke_tokens` can be there.
    var isWithoutPurge: Bool {
        switch self {
        case .open(let situation): situation.stage <= .revoking && situation != .planning
        case .parked(let stage, let reason):
            stage <= .revoking && reason != .awaitingApproval
        case .completed, .cancelled: true
        }
    }

    /// Whether `phase` is the one that the row is about.
    func matches(_ phase: Phase) -> Bool {
        switch (self, phase) {
        case (.open(let situation), .open(let stage)): situation.stage == stage
        case (.parked(let stage, let reason), .parked(let other, let otherReason, _)):
            stage == other && reason == otherReason
        case (.completed, .completed), (.cancelled, .cancelled): true
        default: false
        }
    }
}

// MARK: - The way there

extension PhaseRow {
    /// Makes a request and leads it there.
    func machine(_ kind: RequestKind) throws -> Machine {
        switch self {
        case .open(let situation):
            return try Self.lead(kind, to: situation)
        case .parked(let stage, let reason):
            return try Self.park(kind, in: stage, reason)
        case .completed:
            var machine = Machine(kind, identities: [], stores: [])
            try machine.send(.due)
            return machine
        case .cancelled:
            var machine = Machine(kind)
            try machine.send(.cancel)
            return machine
        }
    }

    private static func lead(_ kind: RequestKind, to situation: Situation) throws -> Machine {
        var machine = Machine(kind)
        switch situation {
        case .accepted:
            return machine
        case .scheduled:
            machine = Machine(kind, grace: .seconds(3600))
            try machine.send(.due)
        case .checking:
            try machine.send(.due)
        case .revoking:
            try machine.send(.due)
            try machine.answer(check: .live)
        case .confirming:
            let exchanged = Sample.credential(lastLiveAt: Sample.start)
            machine = Machine(kind, identities: [Sample.snapshot([exchanged])])
            try machine.send(.due)
            try machine.answer(revoke: .success)
        case .waiting:
            try machine.send(.due)
            try machine.answer(check: .failure(.unreachable))
        case .code:
            let code = Sample.credential(.codePending, kind: .authorizationCode)
            machine = Machine(kind, identities: [Sample.snapshot([code])])
            try machine.send(.due)
        case .planning:
            machine.environment.isApprovalRequired = true
            try machine.send(.due)
        case .planningAgain:
            try machine.approve(Sample.plan())
            try machine.revokeApproved()
        case .purging:
            try machine.revokeEverything()
        case .verifying:
            try machine.revokeEverything()
            try machine.answer(purge: .done(PurgeCounts()))
        }
        return machine
    }

    private static func park(
        _ kind: RequestKind,
        in stage: Stage,
        _ reason: ParkReason
    ) throws -> Machine {
        var machine = Machine(kind)
        switch reason {
        case .onHold, .vaultSealed, .quarantined, .clockBehind, .awaitingSpool,
            .awaitingCredentials:
            return try stop(lead(kind, to: Situation.typical(of: stage)), reason)
        case .needsReauthentication:
            let spent = Sample.credential(.unusable, kind: .authorizationCode)
            machine = Machine(kind, identities: [Sample.snapshot([spent])])
            if kind == .revokeTokens {
                machine.environment = Sample.environment(onUnrevocable: .park)
            }
            try machine.send(.due)
        case .providerPaused:
            machine.environment.pausedProviders = [Sample.apple]
            try machine.send(.due)
        case .unknownProvider:
            machine.environment.providers = [:]
            try machine.send(.due)
        case .sharedIdentity:
            machine = Machine(kind, identities: [Sample.snapshot(isShared: true)])
            try machine.send(.due)
        case .massDeletionGuard:
            machine.environment.isGuardClosed = true
            try machine.revokeEverything()
        case .storePaused:
            if stage == .purging { machine.environment.pausedStores = [Sample.database] }
            try machine.revokeEverything()
            machine.environment.pausedStores = [Sample.database]
            if stage == .verifying { try machine.answer(purge: .done(PurgeCounts())) }
        case .withoutKeys:
            machine.environment.keyedStoresToPark = [Sample.database]
            try machine.revokeEverything()
            try machine.answer(purge: .done(Sample.notLookedFor))
        case .awaitingApproval where stage == .revoking:
            machine.environment.isApprovalRequired = true
            try machine.send(.due)
            try machine.send(.planned(.made(Sample.plan())))
        case .awaitingApproval:
            try machine.approve(Sample.plan(rows: 2))
            try machine.revokeApproved()
            try machine.send(.planned(.made(Sample.plan())))
        }
        return machine
    }

    /// Stops it while a call is under way; the call's good answer arrives while it is parked.
    private static func stop(_ running: Machine, _ reason: ParkReason) throws -> Machine {
        var machine = running
        switch reason {
        case .onHold:
            try machine.send(.hold)
        case .vaultSealed:
            machine.environment.isVaultOpen = false
            try machine.send(.due)
        case .clockBehind:
            machine.environment.isClockBehind = true
            try machine.send(.due)
        case .awaitingSpool:
            machine.environment.spool = .unread
            try machine.send(.due)
        case .awaitingCredentials:
            machine.environment.spool = .unsealed
            try machine.send(.due)
        default:
            try machine.send(.quarantine)
        }
        switch machine.request.phase.stage {
        case .revoking: try machine.answer(check: .live)
        case .purging: try machine.answer(purge: .done(PurgeCounts()))
        case .verifying: try machine.answer(verify: .clean)
        case .accepted, .scheduled, nil: break
        }
        return machine
    }
}

extension PhaseRow.Situation {
    fileprivate static func typical(of stage: Stage) -> Self {
        switch stage {
        case .accepted: .accepted
        case .scheduled: .scheduled
        case .revoking: .checking
        case .purging: .purging
        case .verifying: .verifying
        }
    }
}
