/// Why the daemon does not start.
package struct DaemonError: Error, Sendable, CustomStringConvertible {
    /// The closed set of causes.
    package enum Kind: String, Sendable, CaseIterable {
        case usage
        case configuration
        case credential
        case provider
        case store
        case state
    }

    package let kind: Kind
    /// One line per problem.
    package let problems: [String]

    package init(_ kind: Kind, problems: [String]) {
        self.kind = kind
        self.problems = problems
    }

    package init(_ kind: Kind, _ problems: String...) { self.init(kind, problems: problems) }

    var exitStatus: ExitStatus {
        switch kind {
        case .usage: .usage
        case .configuration, .credential, .provider, .store: .configuration
        case .state: .place
        }
    }

    /// Whether an operator must mend the configuration or a credential first.
    var isForOperator: Bool { exitStatus == .configuration }

    package var description: String { problems.joined(separator: "\n") }
}

/// How the program `expunged` ends, as in sysexits.h, which systemd shows by name (systemd.exec(5),
/// "Process exit codes"); expunged(8) lists them, which a test compares.
enum ExitStatus: Int32, CaseIterable {
    case done = 0
    /// A check found an error.
    case findings = 1
    case usage = 64
    /// The state directory, the spool or a socket.
    case place = 74
    /// A check could not examine everything, and found no error besides.
    case unexamined = 77
    /// The configuration or a credential: an operator must mend it first.
    case configuration = 78
}

/// A step of the start, which can end it; no error leaves the start otherwise.
///
/// The start runs each (``run(_:)``), and ``SystemCheck`` examines each.
enum StartStep: CaseIterable, Sendable {
    case directories, state
    /// The configuration's file is there if the service has erased by it.
    case configuration
    case hashKey, ledger, vault
    case adapters
    case sockets

    func run<T>(_ body: () async throws -> T) async throws(StartProblem) -> T {
        do { return try await body() } catch { throw StartProblem(error: error) }
    }
}

struct StartProblem: Error, CustomStringConvertible {
    let error: any Error
    var description: String { "\(error)" }
}
