import ArgumentParser
import Sandbox

/// Where the commands find the sandbox.
struct SandboxLocation: ParsableArguments {
    @Option(help: "The directory that the sandbox was started with.")
    var directory: String

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

    @Option(help: "The client; the first by name if left out.")
    var clientID: String?

    @Option(help: "The nonce before hashing; random if left out.")
    var nonce: String?

    @Option(help: "The redirect URI that the exchange must repeat.")
    var redirectURI: String?

    @Option(help: "How old the code is already, such as 10m.")
    var age = "0s"

    func run() async throws {
        try await location.client.perform(
            "/sandbox/sign-in",
            body: [
                "user": user, "client_id": clientID, "nonce": nonce, "redirect_uri": redirectURI,
                "age_s": try TimeSpan.milliseconds(age) / 1000,
            ]
        )
    }
}

/// Makes refresh tokens without sign-ins.
struct TokensCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "refresh-tokens",
        abstract: "Make refresh tokens of many users at once."
    )

    @OptionGroup var location: SandboxLocation

    @Option(help: "How many, 1 to 100000.")
    var count: Int

    @Option(help: "The client; the first by name if left out.")
    var clientID: String?

    @Option(help: "The beginning of the users' names.")
    var userPrefix = "user-"

    func run() async throws {
        try await location.client.perform(
            "/sandbox/refresh-tokens",
            body: ["count": count, "client_id": clientID, "user_prefix": userPrefix]
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

    @Option(help: "The client; the first by name if left out.")
    var clientID: String?

    @Option(help: "consent-revoked, account-delete or account-deleted.")
    var event = AppleNotification.Event.consentRevoked

    func run() async throws {
        try await location.client.perform(
            "/sandbox/withdraw-consent",
            body: ["user": user, "client_id": clientID, "event": event.rawValue]
        )
    }
}

extension AppleNotification.Event: ExpressibleByArgument {}
