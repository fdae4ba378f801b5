import ArgumentParser
import Control
import Lifecycle

/// The identifier of a request on the command line.
struct RequestArgument: ExpressibleByArgument {
    /// Also what a user reads below a text that is none.
    static let help: ArgumentHelp = "The request's id, as expungectl list shows it."

    let id: RequestID

    init?(argument: String) {
        guard let id = RequestID(argument) else { return nil }
        self.id = id
    }
}

/// A user id on the command line, or `-` for the first line of standard input.
struct UserArgument: ExpressibleByArgument {
    /// Also what a user reads below a text that is none.
    static let help: ArgumentHelp =
        "The application's id of the user, 1 to 255 bytes, or - to read it."

    let user: UserID

    init?(argument: String) {
        let text = argument == "-" ? InputFile.firstLine() : argument
        guard let text, let user = UserID(text) else { return nil }
        self.user = user
    }
}

/// The configured name of a provider or target on the command line.
struct NameArgument: ExpressibleByArgument {
    let name: String

    init?(argument: String) {
        guard let name = PathText.componentName(argument) else { return nil }
        self.name = name
    }
}

/// A state on the command line.
struct StateArgument: ExpressibleByArgument {
    let state: WireState

    init?(argument: String) {
        guard let state = WireState(rawValue: argument) else { return nil }
        self.state = state
    }

    static var allValueStrings: [String] { WireState.allCases.map(\.rawValue) }
}

/// A kind of credential on the command line.
struct CredentialKindArgument: ExpressibleByArgument {
    let kind: CredentialKind

    init?(argument: String) {
        guard let kind = CredentialKind(rawValue: argument) else { return nil }
        self.kind = kind
    }

    static var allValueStrings: [String] { CredentialKind.allCases.map(\.rawValue) }
}

/// A header field on the command line: `NAME: VALUE`.
struct FieldArgument: ExpressibleByArgument {
    /// In lower case.
    let name: String
    let value: String

    init?(argument: String) {
        let parts = argument.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, !parts[0].isEmpty else { return nil }
        name = parts[0].lowercased()
        value = String(parts[1].drop { $0 == " " })
    }
}
