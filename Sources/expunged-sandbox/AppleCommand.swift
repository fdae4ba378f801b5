import ArgumentParser
import Sandbox
import UnixSignals

extension AppleConfiguration.RefreshLimit: ExpressibleByArgument {}
extension AppleConfiguration.MisnamedToken: ExpressibleByArgument {}

/// Runs a sandbox that plays Apple.
struct AppleCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "apple",
        abstract: "Play Sign in with Apple until SIGTERM or SIGINT."
    )

    @Option(help: "Port at 127.0.0.1; 0 lets the system choose.")
    var port = 0

    @Option(help: "Directory for ca.pem, apple-key.p8, endpoint and logs.jsonl.")
    var directory: String

    @Option(help: "File for the log of calls instead of logs.jsonl in the directory.")
    var log: String?

    @Option(help: "Team id of the registered clients.")
    var teamID = "ABCDE12345"

    @Option(help: "Key id of apple-key.p8.")
    var keyID = "KEY1234567"

    @Option(help: "A client that is registered; may be repeated.")
    var clientID: [String] = []

    @Option(help: "Whether a refresh token may be checked once a day only (429 otherwise).")
    var refreshLimit = AppleConfiguration.RefreshLimit.daily

    @Option(help: "A revoke with the token in a field of the wrong name: 200 or 400.")
    var misnamedToken = AppleConfiguration.MisnamedToken.accept

    @Flag(help: "Leave the id token out of the answer to a refresh (signing it costs most).")
    var noIDTokenOnRefresh = false

    @Option(help: "How many grants, tokens and log records are kept in memory.")
    var capacity = 1_000_000

    @OptionGroup var faults: FaultOptions

    func validate() throws {
        guard (0...65_535).contains(port), capacity > 0 else {
            throw ValidationError("--port is 0 to 65535, --capacity at least 1.")
        }
    }

    func run() async throws {
        var configuration = SandboxConfiguration()
        configuration.port = port
        configuration.directory = directory
        configuration.logFile = log
        configuration.capacity = capacity
        configuration.faults = try faults.plan()
        configuration.apple = AppleConfiguration(
            teamID: teamID,
            keyID: keyID,
            clientIDs: clientID.isEmpty ? ["com.example.app"] : clientID
        )
        configuration.apple.refreshLimit = refreshLimit
        configuration.apple.misnamedToken = misnamedToken
        configuration.apple.returnsIDTokenOnRefresh = !noIDTokenOnRefresh
        // Trapped before the ready line: whoever reads it may already send a signal.
        let signals = await UnixSignalsSequence(trapping: .sigterm, .sigint)
        let sandbox = try await SandboxServer.start(configuration: configuration)
        Output.line("ready at \(sandbox.baseURL), files in \(sandbox.directory)")
        for await _ in signals {
            break
        }
        try await sandbox.shutdown()
    }
}
