import ArgumentParser
import Sandbox

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
        let key = try keyFile.map { try AdminClient.text(ofFile: $0) }
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
                try AdminClient.text(ofFile: $0)
            }
            registration.project = project
            registration.kind = kind
            registration.requiresProof = requiresProof
            try await location.perform("/sandbox/clients", sending: registration)
        }
    }
}
