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
        case .configuration, .credential, .provider, .target: .configuration
        case .state: .place
        }
    }

    /// Whether an operator must mend the configuration or a credential first.
    var isForOperator: Bool { exitStatus == .configuration }

    package var description: String { problems.joined(separator: "\n") }
}
