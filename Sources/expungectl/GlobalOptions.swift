import ArgumentParser
import Control
import ControlClient
import FoundationEssentials

/// What every command takes.
struct GlobalOptions: ParsableArguments {
    @Option(
        name: .long,
        help: ArgumentHelp(
            "The socket of the service (environment: EXPUNGED_SOCKET).",
            valueName: "path"
        ),
        completion: .file()
    )
    var socket: String = Self.socketFromEnvironment

    @Flag(name: .long, help: "Print JSON, for programs.")
    var json = false

    private static var socketFromEnvironment: String {
        ProcessInfo.processInfo.environment["EXPUNGED_SOCKET"] ?? "/run/expunged/control.sock"
    }

    /// Runs `body` with a client of the socket.
    func withClient<R: Sendable>(
        reconnectTimeout: Duration = .seconds(2),
        _ body: (ControlClient) async throws -> R
    ) async throws -> R {
        var limits = ClientLimits()
        limits.reconnectTimeout = reconnectTimeout
        return try await ControlClient.with(socketPath: socket, limits: limits, body)
    }

    func call<Answer>(_ call: ControlCall<Answer>) async throws -> Answer {
        try await withClient { try await $0.call(call) }
    }

    /// Makes a call and prints its answer.
    @discardableResult
    func show<Answer: Encodable>(
        _ call: ControlCall<Answer>,
        _ text: (Answer) -> String
    ) async throws -> Answer {
        let answer = try await self.call(call)
        try print(answer, text(answer))
        return answer
    }

    /// Makes a call of which one request is the answer, and prints its line.
    func show(_ call: ControlCall<WireRequest>) async throws {
        try await show(call) { RequestReport.list([$0]) }
    }

    /// Prints a value: its JSON for programs, on one line in a stream of them, `text` for people.
    func print(
        _ value: some Encodable,
        _ text: @autoclosure () -> String,
        _ layout: JSONEncoder.OutputFormatting = .prettyPrinted
    ) throws {
        guard json else { return Console.write(text()) }
        let encoder = JSONEncoder()
        encoder.outputFormatting = layout.union([.sortedKeys, .withoutEscapingSlashes])
        Console.write(String(decoding: try encoder.encode(value), as: UTF8.self))
    }
}
