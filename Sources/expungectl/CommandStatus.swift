import Control
import ControlClient
import Encoding

/// What ends a command with an error, and what the user can do.
struct CommandFailure: Error {
    let message: String
    var hint: String?
    let code: CommandStatus
    /// The code of the service's refusal (expunged-api(7)).
    var problem: String?
    var details: [String] = []

    /// One line, as expungectl(1) describes it.
    var json: String {
        let facts: [JSONValue] = details.map { .string($0) }
        let value: JSONValue = [
            "error": .string(message),
            "hint": JSONValue(hint),
            "code": JSONValue(problem),
            "details": facts.isEmpty ? nil : .array(facts),
            "exit_status": .integer(Int64(code.rawValue)),
        ]
        return value.compactText
    }
}

/// How the program ends; documented in `--help` and in expungectl(1), which a test compares.
enum CommandStatus: Int32, Error, CaseIterable {
    case success = 0
    case failure = 1
    case notFound = 3
    case conflict = 4
    case unreachable = 5
    case parked = 10
    case rejected = 11
    case cancelled = 12
    case damaged = 13
    case uncovered = 14
    case timedOut = 15
    /// EX_USAGE of sysexits.h(3head).
    case usage = 64
    /// As `expunged` ends, which the command `doctor` runs.
    case unexamined = 77

    var summary: String {
        switch self {
        case .success: "done; with --wait: the request completed"
        case .failure: "something failed; stderr says what"
        case .usage: "wrong usage"
        case .notFound: "no such request, identity, provider or store"
        case .conflict: "not possible in this state"
        case .unreachable: "the service cannot be reached"
        case .parked: "with --wait: the request is parked and waits for an event"
        case .rejected: "with --wait: the request was rejected"
        case .cancelled: "with --wait: the request was cancelled"
        case .damaged: "the ledger does not match its checkpoints"
        case .uncovered: "a store holds unmapped data, or a foreign key stops deletions"
        case .timedOut: "with --timeout: the request has not ended in time and continues"
        case .unexamined: "a check or a support bundle is not complete"
        }
    }

    /// Without the option that it belongs to.
    var reason: String { String(summary.split(separator: ": ").last ?? "") }

    static var documentation: String {
        let lines = allCases.map { code in
            "  " + (code.rawValue < 10 ? " " : "") + "\(code.rawValue)  " + code.summary
        }
        return "Exit codes:\n" + lines.joined(separator: "\n")
    }
}

extension ControlClientError {
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
        .holdNotFound: "find holds on stores and users with: expungectl holds; others: show ID",
        .unknownProvider: "find providers with: expungectl providers",
        .unknownStore: "find stores with: expungectl stores",
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
