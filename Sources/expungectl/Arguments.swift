package import ArgumentParser
import Control
import Lifecycle

extension IdentityID: ExpressibleByArgument {}

extension CalendarMonth: ExpressibleByArgument {}

/// A user id, or `-` for the first line of standard input.
extension UserID: ExpressibleByArgument {
    /// Also what a user reads below a text that is none.
    static let help: ArgumentHelp =
        "The application's id of the user, 1 to 255 bytes, or - to read it."

    package init?(argument: String) {
        guard let text = argument == "-" ? InputFile.firstLine() : argument else { return nil }
        self.init(text)
    }
}

/// The configured name of a provider or target, or the name of a hold.
struct NameArgument: ExpressibleByArgument {
    let name: String

    init?(argument: String) {
        guard let name = PathText.componentName(argument) else { return nil }
        self.name = name
    }
}

extension ProviderName: ExpressibleByArgument {
    package static var defaultCompletionKind: CompletionKind { LiveValues.providers }

    package init?(argument: String) {
        guard let name = PathText.componentName(argument) else { return nil }
        self.init(name)
    }
}

extension TargetName: ExpressibleByArgument {
    package static var defaultCompletionKind: CompletionKind { LiveValues.targets }

    package init?(argument: String) {
        guard let name = PathText.componentName(argument) else { return nil }
        self.init(name)
    }
}

extension RequestState: ExpressibleByArgument {}

extension MessageLanguage: ExpressibleByArgument {}

extension CredentialKind: ExpressibleByArgument {}

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
