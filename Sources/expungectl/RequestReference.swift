import ArgumentParser
import Control
import ControlClient
import Lifecycle

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
    /// The most candidates that an ambiguous prefix shows.
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

    /// Acts on a request and prints its line.
    func act(_ action: RequestAction, on reference: RequestReference) async throws {
        let id = try await resolve(reference)
        try await show(.act(action, on: id)) { RequestReport.list([$0]) }
    }
}
