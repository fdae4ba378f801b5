import ArgumentParser
import Encoding
import Sandbox

extension SandboxProvider: ExpressibleByArgument {}

/// Where the commands find the sandbox, and whom they are about.
struct SandboxLocation: ParsableArguments {
    /// That of expunged-sandbox.service.
    @Option(help: "The directory that the sandbox was started with.")
    var directory = "/run/expunged-sandbox"

    @Option(help: "Whose users and clients the command is about.")
    var provider = SandboxProvider.apple

    /// Asks, or commands the provider at a route, and prints the answer.
    func perform(_ path: String, sending value: (any Encodable)? = nil) async throws {
        Output.line(try await answer(path, sending: value))
    }
}

/// Which client, and where the user signs in.
struct ClientOptions: ParsableArguments {
    @Option(help: "The client; the first if left out.")
    var clientID: String?

    @Option(help: "Microsoft's tenant or consumers, Facebook's limited, X's oauth1.")
    var realm: String?
}

struct SignInCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sign-in",
        abstract: "Sign a user in: code, id token, subject, raw nonce."
    )

    @OptionGroup var location: SandboxLocation
    @OptionGroup var client: ClientOptions

    @Option(help: "A name of your own for the user.")
    var user: String

    @Option(help: "The nonce, as the application made it; random if left out.")
    var nonce: String?

    @Option(help: "The redirect URI that the exchange must repeat.")
    var redirectURI: String?

    @Option(help: "What is asked for, with blanks between (not Apple).")
    var scope: String?

    @Option(help: "The S256 challenge of a PKCE verifier (not Apple).")
    var codeChallenge: String?

    @Option(help: "How old the code is already, such as 10m.")
    var age = "0s"

    @Flag(help: "Print the authorization code alone.")
    var codeOnly = false

    func run() async throws {
        var order = SandboxOrder.SignIn(user: user)
        order.clientID = client.clientID
        order.nonce = nonce
        order.redirectURI = redirectURI
        order.scope = scope
        order.codeChallenge = codeChallenge
        order.realm = client.realm
        order.ageSeconds = try TimeSpan.milliseconds(age) / 1000
        let answer = try await location.answer("/sandbox/sign-in", sending: order)
        guard codeOnly else { return Output.line(answer) }
        let signIn = try TypedJSON.value(SandboxSignIn.self, from: answer.utf8, .snakeCase)
        Output.line(signIn.code ?? "")
    }
}

struct TokensCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tokens",
        abstract: "Make tokens of many users at once.",
        aliases: ["refresh-tokens"]
    )

    @OptionGroup var location: SandboxLocation
    @OptionGroup var client: ClientOptions

    @Option(help: "How many, 1 to 100000.")
    var count: Int

    @Option(help: "The beginning of the users' names.")
    var userPrefix = "user-"

    @Option(help: "What is asked for, with blanks between (not Apple).")
    var scope: String?

    @Option(help: "How old the tokens are already, such as 9h (not Apple).")
    var age = "0s"

    func run() async throws {
        var order = SandboxOrder.Tokens(count: count)
        order.clientID = client.clientID
        order.userPrefix = userPrefix
        order.scope = scope
        order.realm = client.realm
        order.ageSeconds = try TimeSpan.milliseconds(age) / 1000
        try await location.perform("/sandbox/refresh-tokens", sending: order)
    }
}

struct WithdrawCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "withdraw-consent",
        abstract: "Let a user cut the authorization; prints the provider's notification."
    )

    @OptionGroup var location: SandboxLocation
    @OptionGroup var client: ClientOptions

    @Option(help: "The name used at the sign-in.")
    var user: String

    @Option(
        help: ArgumentHelp(
            "What happens, in the provider's words; the usual cut if left out.",
            discussion: SandboxProvider.eventList
        )
    )
    var event: String?

    @Option(help: "The token that the event is about (google, oauth2: token-revoked).")
    var token: String?

    func run() async throws {
        var order = SandboxOrder.Withdrawal(user: user, event: event)
        order.clientID = client.clientID
        order.token = token
        order.realm = client.realm
        try await location.perform("/sandbox/withdraw-consent", sending: order)
    }
}
