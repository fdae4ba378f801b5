import Lifecycle

/// What one event did to a request, in words for the table and in a code for the matrix.
struct Outcome: Hashable {
    let phase: Phase
    let isChange: Bool
    let refusal: OperationRefusal?
    let effects: [RequestEffect]

    init(of event: RequestEvent, on machine: Machine) {
        var stepped = machine
        var happened: [RequestEffect] = []
        var refused: OperationRefusal?
        do {
            happened = try stepped.send(event)
        } catch {
            refused = error
        }
        phase = stepped.request.phase
        refusal = refused
        effects = happened
        isChange = Self.text(machine.request.phase) != Self.text(phase)
        isUntouched = machine.request == stepped.request
    }

    /// Not one stored fact changed.
    let isUntouched: Bool

    /// `stays`, `refused too_late`, or the new phase with its effects in order.
    var text: String {
        if let refusal { return "refused \(refusal.rawValue)" }
        guard isChange || !effects.isEmpty else { return "stays" }
        return ([Self.text(phase)] + effects.map { "+" + Self.text($0) }).joined(separator: " ")
    }

    /// At most four characters: phase and the one call that it makes.
    var code: String {
        if let refusal { return "-" + Self.code(refusal) }
        guard isChange || !effects.isEmpty else { return "." }
        let calls = effects.compactMap(Self.code)
        return Self.code(phase) + calls.map { "+" + $0 }.joined()
    }
}

// MARK: - Words

extension Outcome {
    private static func text(_ phase: Phase) -> String {
        switch phase {
        case .open(let stage): stage.rawValue
        case .parked(let stage, let reason, _): "\(stage.rawValue)/\(reason.rawValue)"
        case .completed: "completed"
        case .cancelled: "cancelled"
        }
    }

    private static func text(_ effect: RequestEffect) -> String {
        switch effect {
        case .lookUp: "lookUp"
        case .call(let call): "\(call.work)"
        case .plan: "plan"
        case .purge: "purge"
        case .verify: "verify"
        case .pauseProvider: "pauseProvider"
        case .pauseStore: "pauseStore"
        case .announce(let announcement): text(announcement)
        }
    }

    private static func text(_ announcement: Announcement) -> String {
        switch announcement {
        case .parked: "parked"
        case .resumed: "resumed"
        case .verdict(_, let verdict, _): verdict.rawValue
        case .sealBroken: "sealBroken"
        case .vaultKeyMissing: "keyMissing"
        case .approved: "approved"
        case .planChanged: "planChanged"
        case .purgeStarted: "purgeStarted"
        case .remainingRows: "remainingRows"
        case .blocked: "blocked"
        case .completed: "done"
        case .nothingErased: "nothingErased"
        case .cancelled: "cancelled"
        case .abandoned: "abandoned"
        }
    }

    private static func code(_ refusal: OperationRefusal) -> String {
        switch refusal {
        case .tooLate: "L"
        case .alreadyEnded: "E"
        case .nothingToAbandon: "N"
        case .notOnHold: "F"
        case .holdExists: "X"
        case .deletionInProgress: "D"
        case .noPlan: "P"
        case .planChanged: "C"
        case .sameOperator: "S"
        case .userOnHold: "U"
        case .unknownProvider: "?"
        case .providersOpen: "O"
        }
    }

    private static func code(_ phase: Phase) -> String {
        switch phase {
        case .open(let stage): code(stage)
        case .parked(let stage, let reason, _): code(stage) + code(reason)
        case .completed: "end"
        case .cancelled: "can"
        }
    }

    private static func code(_ stage: Stage) -> String { String(stage.rawValue.prefix(1)) }

    private static func code(_ reason: ParkReason) -> String {
        switch reason {
        case .needsReauthentication: "N"
        case .providerPaused: "P"
        case .unknownProvider: "M"
        case .storePaused: "T"
        case .vaultSealed: "V"
        case .onHold: "H"
        case .awaitingApproval: "A"
        case .massDeletionGuard: "G"
        case .sharedIdentity: "S"
        case .quarantined: "Q"
        case .awaitingSpool: "W"
        case .awaitingCredentials: "U"
        case .clockBehind: "C"
        case .withoutKeys: "K"
        }
    }

    private static func code(_ effect: RequestEffect) -> String? {
        switch effect {
        case .lookUp: "l"
        case .call(let call):
            switch call.work {
            case .check: "c"
            case .revoke: "r"
            case .confirm: "f"
            }
        case .plan: "n"
        case .purge: "p"
        case .verify: "v"
        case .pauseProvider, .pauseStore, .announce: nil
        }
    }
}
