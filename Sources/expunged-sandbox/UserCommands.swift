import ArgumentParser
import Sandbox

extension SandboxProvider: ExpressibleByArgument {}

/// Where the commands find the sandbox, and whom they are about.
struct SandboxLocation: ParsableArguments {
    @Option(help: "The directory that the sandbox was started with.")
    var directory: String

    @Option(help: "Whose users and clients the command is about.")
    var provider = SandboxProvider.apple

    /// A route of the provider.
    func route(_ path: String) -> String {
        provider == .apple ? path : "\(path)?provider=\(provider.rawValue)"
    }

    var client: AdminClient { AdminClient(directory: directory) }
}

/// Signs a user in and prints what the application then holds.
struct SignInCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sign-in",
        abstract: "Sign a user in: code, id token, subject, raw nonce."
    )

    @OptionGroup var location: SandboxLocation

    @Option(help: "A name of your own for the user.")
    var user: String

    @Option(help: "The client; the first if left out.")
    var clientID: String?

    @Option(help: "The nonce, as the application made it; random if left out.")
    var nonce: String?

    @Option(help: "The redirect URI that the exchange must repeat.")
    var redirectURI: String?

    @Option(help: "What is asked for, with blanks between (not Apple).")
    var scope: String?

    @Option(help: "The S256 challenge of a PKCE verifier (not Apple).")
    var codeChallenge: String?

    @Option(help: "Microsoft's tenant or consumers, Facebook's limited, X's oauth1.")
    var realm: String?

    @Option(help: "How old the code is already, such as 10m.")
    var age = "0s"

    func run() async throws {
        try await location.client.perform(
            location.route("/sandbox/sign-in"),
            body: [
                "scope": scope, "code_challenge": codeChallenge, "realm": realm,
                "user": user, "client_id": clientID, "nonce": nonce, "redirect_uri": redirectURI,
                "age_s": try TimeSpan.milliseconds(age) / 1000,
            ]
        )
    }
}

/// Makes refresh tokens without sign-ins.
struct TokensCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tokens",
        abstract: "Make tokens of many users at once.",
        aliases: ["refresh-tokens"]
    )

    @OptionGroup var location: SandboxLocation

    @Option(help: "How many, 1 to 100000.")
    var count: Int

    @Option(help: "The client; the first if left out.")
    var clientID: String?

    @Option(help: "The beginning of the users' names.")
    var userPrefix = "user-"

    @Option(help: "What is asked for, with blanks between (not Apple).")
    var scope: String?

    @Option(help: "Microsoft's tenant or consumers, Facebook's limited, X's oauth1.")
    var realm: String?

    @Option(help: "How old the tokens are already, such as 9h (not Apple).")
    var age = "0s"

    func run() async throws {
        try await location.client.perform(
            location.route("/sandbox/refresh-tokens"),
            body: [
                "count": count, "client_id": clientID, "user_prefix": userPrefix,
                "scope": scope, "realm": realm,
                "age_s": try TimeSpan.milliseconds(age) / 1000,
            ]
        )
    }
}

/// Lets a user remove the application in the settings of the device.
struct WithdrawCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "withdraw-consent",
        abstract: "Let a user cut the authorization; prints the provider's notification."
    )

    @OptionGroup var location: SandboxLocation

    @Option(help: "The name used at the sign-in.")
    var user: String

    @Option(help: "The client; the first if left out.")
    var clientID: String?

    @Option(
        help: ArgumentHelp(
            "What happens, in the provider's words; the usual cut if left out.",
            discussion: "apple: consent-revoked, account-delete, account-deleted. "
                + "google, oauth2: tokens-revoked, account-purged, account-disabled, … "
                + "facebook: deauthorize, data-deletion."
        )
    )
    var event: String?

    @Option(help: "The token that the event is about (google, oauth2: token-revoked).")
    var token: String?

    @Option(help: "Microsoft's tenant or consumers, Facebook's limited, X's oauth1.")
    var realm: String?

    func run() async throws {
        try await location.client.perform(
            location.route("/sandbox/withdraw-consent"),
            body: [
                "user": user, "client_id": clientID, "event": event, "token": token,
                "realm": realm,
            ]
        )
    }
}
