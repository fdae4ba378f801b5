/// Why the daemon does not start.
package struct DaemonError: Error, Sendable, CustomStringConvertible {
    /// The closed set of causes.
    package enum Kind: String, Sendable, CaseIterable {
        case usage
        case configuration
        case credential
        case provider
        case target
        case state
        case spool
        case socket
    }

    package let kind: Kind
    /// One line per problem.
    package let problems: [String]

    package init(_ kind: Kind, _ problems: [String]) {
        self.kind = kind
        self.problems = problems
    }

    /// Of sysexits.h, which systemd shows by name (systemd.exec(5), "Process exit codes").
    package var exitStatus: Int32 {
        switch kind {
        case .usage: 64
        case .configuration, .credential, .provider, .target: 78
        case .state, .spool, .socket: 74
        }
    }

    /// Whether an operator must mend the configuration or a credential first.
    var isForOperator: Bool { exitStatus == 78 }

    package var description: String { problems.joined(separator: "\n") }
}
