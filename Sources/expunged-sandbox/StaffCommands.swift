import ArgumentParser
import Encoding
import Sandbox

struct GrantsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "grants",
        abstract: "List the users' authorizations: live or revoked."
    )

    @OptionGroup var location: SandboxLocation

    @Option(help: "Only those of this user.")
    var user: String?

    func run() async throws {
        try await location.perform(
            "/sandbox/grants?provider=\(location.provider.rawValue)"
                + (user.map { "&user=\(PercentEncoding.encode($0))" } ?? "")
        )
    }
}

struct LogCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "log",
        abstract: "Show the calls that were made, oldest first."
    )

    @OptionGroup var location: SandboxLocation

    @Option(help: "Only calls after this sequence number.")
    var after: UInt64 = 0

    @Option(help: "How many at most.")
    var limit = 10_000

    func run() async throws {
        try await location.perform("/sandbox/log?after=\(after)&limit=\(limit)")
    }
}

struct FaultCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fault",
        abstract: "Make calls fail from now on; a rate of 0 ends it."
    )

    @OptionGroup var location: SandboxLocation
    @OptionGroup var faults: FaultOptions

    func run() async throws {
        try await location.perform("/sandbox/faults", sending: try faults.plan())
    }
}

struct ClockCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "clock",
        abstract: "Move the sandbox's clock away from the machine's."
    )

    @OptionGroup var location: SandboxLocation

    @Option(help: "How far ahead, such as 25h; 0s puts it right again.")
    var offset: String

    func run() async throws {
        let order = ["offset_ms": try TimeSpan.milliseconds(offset)]
        try await location.perform("/sandbox/clock", sending: order)
    }
}

struct RotateKeysCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rotate-keys",
        abstract: "Sign id tokens with a new key from now on."
    )

    @OptionGroup var location: SandboxLocation

    @Flag(help: "Withdraw the old keys at once.")
    var withdrawOld = false

    func run() async throws {
        try await location.perform("/sandbox/rotate-keys", sending: ["withdraw_old": withdrawOld])
    }
}

struct ClientsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "clients",
        abstract: "List the clients of all providers: base URL, client id, client secret."
    )

    @OptionGroup var location: SandboxLocation

    func run() async throws { try await location.perform("/sandbox/clients") }
}

struct CloudCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cloud",
        abstract: "List what Firebase and Google Cloud hold, or add to it."
    )

    @OptionGroup var location: SandboxLocation

    @Option(
        help: """
            A JSON file to add: accounts (user, links), documents (and their fields), values (and \
            their numbers), objects; tenants and databases beside the first.
            """
    )
    var add: String?

    func run() async throws {
        let contents = try add.map { path in
            let text = try SandboxLocation.text(ofFile: path)
            return try TypedJSON.value(CloudContents.self, from: text.utf8, .snakeCase)
        }
        try await location.perform("/sandbox/cloud", sending: contents)
    }
}

struct ServiceAccountCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "service-account",
        abstract: "Print the key file of the service account that Google Cloud knows."
    )

    @OptionGroup var location: SandboxLocation

    func run() async throws { try await location.perform("/sandbox/service-account") }
}

struct ClientSecretCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "client-secret",
        abstract: "Print a client secret that is good for 5 minutes."
    )

    @OptionGroup var location: SandboxLocation

    @Option(help: "The team.")
    var teamID = "ABCDE12345"

    @Option(help: "The key id.")
    var keyID = "KEY1234567"

    @Option(help: "The client.")
    var clientID = "com.example.app"

    func run() throws {
        let key = try SandboxLocation.text(ofFile: "\(location.directory)/apple-key.p8")
        Output.line(
            try AppleClientSecret.make(
                clientID: clientID,
                teamID: teamID,
                keyID: keyID,
                keyPEM: key
            )
        )
    }
}

extension ClientAuthentication: ExpressibleByArgument {}
extension ClientRegistration.Kind: ExpressibleByArgument {}

/// Registers clients: Apple's by team and key, the others' by secret, key or certificate.
struct RegisterClientCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "register-client",
        abstract: "Register clients, or replace them."
    )

    @OptionGroup var location: SandboxLocation

    @Option(help: "A client; may be repeated.")
    var clientID: [String]

    @Option(help: "The team (Apple).")
    var teamID: String?

    @Option(help: "The key id that client secrets name (Apple).")
    var keyID: String?

    @Option(
        help: "A PEM file, public or private: P-256 (Apple), the key of private_key_jwt (OAuth 2)."
    )
    var keyFile: String?

    @Option(help: "The client secret (not Apple).")
    var clientSecret: String?

    @Option(help: "How the client proves itself (OAuth 2, X).")
    var authentication: ClientAuthentication?

    @Option(help: "A PEM file with the certificate of client assertions (Microsoft).")
    var certificateFile: String?

    @Option(help: "The project, whose clients share their users' grants (Google).")
    var project: String?

    @Option(help: "The kind of application (GitHub).")
    var kind: ClientRegistration.Kind?

    @Flag(help: "Every call needs appsecret_proof (Facebook).")
    var requiresProof = false

    func validate() throws {
        guard location.provider == .apple else { return }
        guard teamID != nil, keyID != nil, keyFile != nil else {
            throw ValidationError("Apple needs --team-id, --key-id and --key-file.")
        }
    }

    func run() async throws {
        let key = try keyFile.map { try SandboxLocation.text(ofFile: $0) }
        guard location.provider != .apple else {
            return try await location.perform(
                "/sandbox/clients",
                sending: AppleRegistration(
                    teamID: teamID ?? "",
                    keyID: keyID ?? "",
                    keyPEM: key ?? "",
                    clientIDs: clientID
                )
            )
        }
        for clientID in clientID {
            var registration = ClientRegistration(clientID, secret: clientSecret)
            registration.authentication = authentication
            registration.keyPEM = key
            registration.certificatePEM = try certificateFile.map {
                try SandboxLocation.text(ofFile: $0)
            }
            registration.project = project
            registration.kind = kind
            registration.requiresProof = requiresProof
            try await location.perform("/sandbox/clients", sending: registration)
        }
    }
}
