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

    /// Prints a value: its JSON for programs, `text` for people.
    func print(_ value: some Encodable, _ text: @autoclosure () -> String) throws {
        guard json else { return Console.write(text()) }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        Console.write(String(decoding: try encoder.encode(value), as: UTF8.self))
    }

    /// Prints a value on one line, for a stream of them.
    func printLine(_ value: some Encodable, _ text: @autoclosure () -> String) throws {
        guard json else { return Console.write(text()) }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        Console.write(String(decoding: try encoder.encode(value), as: UTF8.self))
    }
}
