import Encoding

/// What ends a command with an error, and what the user can do.
struct CommandFailure: Error {
    let message: String
    var hint: String?
    let code: CommandStatus
    /// The code of the service's refusal (expunged-api(7)).
    var problem: String?
    /// Further facts.
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
        case .notFound: "no such request, identity, provider or target"
        case .conflict: "not possible in this state"
        case .unreachable: "the service cannot be reached"
        case .parked: "with --wait: the request is parked and waits for an event"
        case .rejected: "with --wait: the request was rejected"
        case .cancelled: "with --wait: the request was cancelled"
        case .damaged: "the ledger does not match its checkpoints"
        case .uncovered: "a target holds unmapped data, or a foreign key stops deletions"
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
