import ArgumentParser
import Sandbox
import UnixSignals

extension AppleConfiguration.RefreshLimit: ExpressibleByArgument {}
extension AppleConfiguration.MisnamedToken: ExpressibleByArgument {}
extension FacebookConfiguration.RepeatedDelete: ExpressibleByArgument {}
extension GitHubConfiguration.BadCredentials: ExpressibleByArgument {}
extension OAuth2Configuration.Rotation: ExpressibleByArgument {}
extension OAuth2Configuration.Reach: ExpressibleByArgument {}
extension OAuth2Configuration.UnknownToken: ExpressibleByArgument {}

/// Runs a sandbox that plays every provider.
struct ServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Play the providers until SIGTERM or SIGINT.",
        discussion: """
            Apple is served at the root, every other provider under its name, such as \
            https://localhost:PORT/google; 'clients' lists the addresses, client ids and secrets. \
            The options for clients and keys are Apple's; clients of the others are added with \
            'register-client'.
            """,
        aliases: ["apple"]
    )

    @Option(help: "Port at 127.0.0.1; 0 lets the system choose.")
    var port = 0

    @Option(help: "Directory for ca.pem, apple-key.p8, endpoint and logs.jsonl.")
    var directory: String

    @Option(help: "File for the log of calls instead of logs.jsonl in the directory.")
    var log: String?

    @Option(help: "Apple: team id of the registered clients.")
    var teamID = "ABCDE12345"

    @Option(help: "Apple: key id of apple-key.p8.")
    var keyID = "KEY1234567"

    @Option(help: "Apple: a client that is registered; may be repeated.")
    var clientID: [String] = []

    @Option(help: "Apple: whether a refresh token may be checked once a day only (429 otherwise).")
    var refreshLimit = AppleConfiguration.RefreshLimit.daily

    @Option(help: "Apple: a revoke with the token in a field of the wrong name: 200 or 400.")
    var misnamedToken = AppleConfiguration.MisnamedToken.accept

    @Flag(help: "Apple: leave the id token out of the answer to a refresh (signing it costs most).")
    var noIDTokenOnRefresh = false

    @Option(help: "How many grants, tokens and log records are kept in memory.")
    var capacity = 1_000_000

    @Option(help: "OAuth 2: whether refresh tokens are replaced when they are used.")
    var oauth2Rotation = OAuth2Configuration.Rotation.rotate

    @Option(help: "OAuth 2: what ends with a revoked token: it alone, its sign-in, the grant.")
    var oauth2Reach = OAuth2Configuration.Reach.signIn

    @Option(help: "OAuth 2: the answer to a revoke of an unknown or dead token.")
    var oauth2UnknownToken = OAuth2Configuration.UnknownToken.ok

    @Flag(help: "OAuth 2: access tokens cannot be revoked (unsupported_token_type).")
    var oauth2KeepsAccessTokens = false

    @Option(help: "Facebook: the answer to a deletion of permissions that are gone.")
    var facebookRepeatedDelete = FacebookConfiguration.RepeatedDelete.notFound

    @Option(help: "Microsoft: how long a deleted grant is still listed, such as 30s.")
    var microsoftListingLag = "0s"

    @Option(help: "GitHub: the answer to wrong client credentials.")
    var githubBadCredentials = GitHubConfiguration.BadCredentials.notFound

    @Flag(help: "X: a revoke of an unknown or dead token is refused.")
    var xRefusesUnknownTokens = false

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
        configuration.apple.teamID = teamID
        configuration.apple.keyID = keyID
        if !clientID.isEmpty { configuration.apple.clientIDs = clientID }
        configuration.apple.refreshLimit = refreshLimit
        configuration.apple.misnamedToken = misnamedToken
        configuration.apple.returnsIDTokenOnRefresh = !noIDTokenOnRefresh
        configuration.oauth2.rotation = oauth2Rotation
        configuration.oauth2.reach = oauth2Reach
        configuration.oauth2.unknownToken = oauth2UnknownToken
        configuration.oauth2.revokesAccessTokens = !oauth2KeepsAccessTokens
        configuration.facebook.repeatedDelete = facebookRepeatedDelete
        configuration.microsoft.listingLagSeconds =
            try TimeSpan.milliseconds(microsoftListingLag) / 1000
        configuration.github.badCredentials = githubBadCredentials
        configuration.x.refusesUnknownTokens = xRefusesUnknownTokens
        // Trapped before the ready line: whoever reads it may already send a signal.
        let signals = await UnixSignalsSequence(trapping: .sigterm, .sigint)
        let sandbox = try await SandboxServer.start(configuration: configuration)
        Output.line("ready at \(sandbox.baseURL), files in \(sandbox.directory)")
        for await _ in signals { break }
        try await sandbox.shutdown()
    }
}
