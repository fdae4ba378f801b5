import Control
import ControlClient

extension ControlClientError {
    /// What the program prints of it, and how it ends.
    var failure: CommandFailure {
        var details: [String] = []
        if kind == .unreachable, let reason = LastReason.find(socket: socketPath) {
            details.append("the service's last error: " + Table.harmless(reason))
        }
        if let problem {
            // A single fact is mostly the problem itself.
            for fact in problem.errors ?? [] where !problem.detail.hasSuffix(fact.message) {
                let place = fact.field.map { "\($0): " } ?? ""
                details.append(Table.harmless(place + fact.message))
            }
        }
        return CommandFailure(
            message: Table.harmless(description),
            hint: hint,
            code: exitStatus,
            problem: problem.map { "\($0.code)" },
            details: details
        )
    }

    private var exitStatus: CommandStatus {
        switch kind {
        case .unreachable, .permissionDenied: .unreachable
        case .timedOut, .malformedAnswer, .interrupted: .failure
        case .refused(let problem):
            switch problem.status {
            case 404: .notFound
            case 409: .conflict
            default: .failure
            }
        }
    }

    private var hint: String? {
        switch kind {
        case .unreachable: "is expunged running? see: systemctl status expunged; expungectl doctor"
        case .permissionDenied:
            "join the group expunged-operator, or expunged-viewer to read only, or use sudo"
        case .timedOut, .interrupted: "see: journalctl -u expunged"
        case .malformedAnswer: "is this socket expunged's, and is expungectl of the same version?"
        case .refused(let problem): problem.code.known.flatMap { Self.hints[$0] }
        }
    }

    private static let hints: [ControlProblem.Code: String] = [
        .alreadyErased: "without account_created_at, the request is for the present account",
        .alreadyOpen: "find it with: expungectl list --user USER",
        .requestNotFound: "find requests with: expungectl list",
        .identityNotFound: "find identities with: expungectl identities USER",
        .notificationsOff: "set the key notifications of the provider; see expunged.conf(5)",
        .holdNotFound: "find holds on targets and users with: expungectl holds; others: show ID",
        .unknownProvider: "find providers with: expungectl providers",
        .unknownTarget: "find targets with: expungectl targets",
        .forbidden: "use the operators' socket: --socket /run/expunged/control.sock",
        .idempotencyConflict: "use a new --idempotency-key for a different request",
        .clientIDRequired: "name it with --client-id",
        .configurationInvalid: "check the file with: expunged --check-config",
        .intakePaused: "start it with: expungectl intake resume",
        .vaultSealed: "provide the vault key and restart expunged; see expunged(8)",
        .tooLate: "see what was done with: expungectl show ID",
        .planChanged: "read the plan, and what changed, with: expungectl plan --request ID",
        .sameOperator: "another person must approve it, from a login of their own",
        .internal: "see: journalctl -u expunged",
        .tooManyConnections: "try again in some seconds",
        .unavailable: "try again in some seconds",
    ]
}
