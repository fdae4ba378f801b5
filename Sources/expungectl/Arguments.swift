package import ArgumentParser
import Control
import ControlClient
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

/// The configured name of a provider or store, or the name of a hold.
struct NameArgument: ExpressibleByArgument {
    let name: String

    init?(argument: String) {
        guard ComponentName.isValid(argument) else { return nil }
        name = argument
    }
}

extension ProviderName: ExpressibleByArgument {
    package static var defaultCompletionKind: CompletionKind { LiveValues.providers }

    package init?(argument: String) {
        guard ComponentName.isValid(argument) else { return nil }
        self.init(argument)
    }
}

extension StoreName: ExpressibleByArgument {
    package static var defaultCompletionKind: CompletionKind { LiveValues.stores }

    package init?(argument: String) {
        guard ComponentName.isValid(argument) else { return nil }
        self.init(argument)
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

/// A request id, or its first characters, at least 4.
struct RequestReference: ExpressibleByArgument {
    /// Also what a user reads below a text that is none.
    static let help: ArgumentHelp =
        "The request's id, or its first characters, at least 4, if no other id begins with them."
    static var defaultCompletionKind: CompletionKind { LiveValues.requests }

    let prefix: String

    init?(argument: String) {
        guard RequestID.range(prefix: argument) != nil else { return nil }
        prefix = argument.lowercased()
    }
}

extension GlobalOptions {
    private static let candidateMax = 10

    /// The request that is meant; only a prefix needs the service.
    func resolve(_ reference: RequestReference) async throws -> RequestID {
        if let id = RequestID(reference.prefix) { return id }
        var filter = WireRequestFilter(limit: Self.candidateMax)
        filter.idPrefix = reference.prefix
        let page = try await call(.list(filter))
        guard let first = page.items.first else {
            throw CommandFailure(
                message: "no request has an id that begins with '\(reference.prefix)'",
                hint: "find requests with: expungectl list",
                code: .notFound
            )
        }
        guard page.items.count > 1 else { return first.id }
        if !json { Console.writeError(RequestReport.list(page.items)) }
        let count = page.nextCursor == nil ? "\(page.items.count)" : "more than \(page.items.count)"
        throw CommandFailure(
            message: "the ids of \(count) requests begin with '\(reference.prefix)'",
            hint: "give more characters of the id",
            code: .usage,
            details: json ? page.items.map(\.id.description) : []
        )
    }

    func act(_ action: RequestAction, on reference: RequestReference) async throws {
        let id = try await resolve(reference)
        try await show(.act(action, on: id)) { RequestReport.list([$0]) }
    }
}
