import ArgumentParser
import Control
import ControlClient
import Encoding
import FoundationEssentials
import Glibc

struct GlobalOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The socket of the service (environment: EXPUNGED_SOCKET).",
            valueName: "path"
        ),
        completion: .file()
    )
    var socket: String = Self.defaultSocket

    @Flag(name: .customLong("json"), help: "Print JSON, for programs.")
    private var isJSONAfterCommand = false

    var json: Bool { Self.leading.isJSON }

    /// What stands before the command; `--json` counts at any place.
    struct Leading: Sendable {
        fileprivate var socket: String?
        fileprivate(set) var isJSON = false

        /// Takes the options from the beginning of the command line.
        init(from words: inout ArraySlice<String>) {
            isJSON = words.prefix { $0 != "--" }.contains("--json")
            while let word = words.first {
                if word.hasPrefix("--socket=") {
                    socket = String(word.dropFirst("--socket=".count))
                } else if word == "--socket", words.count > 1 {
                    words.removeFirst()
                    socket = words.first
                } else if word != "--json" {
                    return
                }
                words.removeFirst()
            }
        }

        fileprivate init() {}
    }

    @TaskLocal static var leading = Leading()

    static var defaultSocket: String {
        leading.socket ?? ProcessInfo.processInfo.environment["EXPUNGED_SOCKET"]
            ?? (isViewer ? viewerSocket : operatorSocket)
    }

    private static let operatorSocket = "/run/expunged/control.sock"
    private static let viewerSocket = "/run/expunged/viewer.sock"

    /// Whether the viewers' socket is the only one that this user may use.
    private static var isViewer: Bool {
        guard unsafe access(operatorSocket, W_OK) != 0, errno == EACCES else { return false }
        return unsafe access(viewerSocket, W_OK) == 0
    }

    func withClient<R: Sendable>(
        reconnectTimeout: Duration = .milliseconds(400),
        _ body: (ControlClient) async throws -> R
    ) async throws -> R {
        var limits = ClientLimits()
        limits.reconnectTimeout = reconnectTimeout
        // With the start of the program and a look at the journal: within a second.
        limits.firstAnswerTimeout = .milliseconds(500)
        return try await ControlClient.with(socketPath: socket, limits: limits, body)
    }

    func call<Answer>(_ call: ControlCall<Answer>) async throws -> Answer {
        try await withClient { try await $0.call(call) }
    }

    @discardableResult
    func show<Answer: Encodable>(
        _ call: ControlCall<Answer>,
        _ text: (Answer) -> String
    ) async throws -> Answer {
        let answer = try await self.call(call)
        try print(answer, text(answer))
        return answer
    }

    /// Prints a value: its JSON for programs, on one line in a stream of them, `text` for people.
    func print(
        _ value: some Encodable,
        _ text: @autoclosure () -> String,
        _ layout: JSONEncoder.OutputFormatting = .prettyPrinted
    ) throws {
        guard json else { return Console.write(text()) }
        Console.write(try TypedJSON.text(value, .snakeCase, layout: layout))
    }
}
