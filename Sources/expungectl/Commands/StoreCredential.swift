import ArgumentParser
import Control
import ControlClient
import Lifecycle

struct StoreCredential: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "store-credential",
        abstract: "Seal a credential of a user into the vault.",
        discussion: "Secrets come from files; without --secret-file, from standard input."
    )

    @Argument(help: UserArgument.help)
    var user: UserArgument
    @Argument(help: "The provider that issued it.")
    var provider: NameArgument
    @Option(name: .long, help: "The kind of the credential.")
    var kind: CredentialKindArgument
    @Option(name: .long, help: "The client id, if the provider has several.")
    var clientID: String?
    @Option(name: .long, help: "The provider's id of the user, if known.")
    var subject: String?
    @Option(name: .long, help: "The credential.", completion: .file())
    var secretFile: String = "-"
    @Option(name: .long, help: "The PKCE verifier of a code.", completion: .file())
    var codeVerifierFile: String?
    @Option(name: .long, help: "The nonce before hashing.", completion: .file())
    var rawNonceFile: String?
    @Option(name: .long, help: "The redirect URI of the authorize request.")
    var redirectURI: String?
    @OptionGroup var global: GlobalOptions

    func validate() throws {
        let files = [secretFile, codeVerifierFile, rawNonceFile]
        guard files.filter({ $0 == "-" }).count <= 1 else {
            throw ValidationError("only one secret can come from standard input")
        }
    }

    func run() async throws {
        var input = CredentialInput(kind: kind.kind, secret: try InputFile.secret(secretFile))
        input.clientID = clientID
        input.subject = subject
        input.redirectURI = redirectURI
        input.codeVerifier = try codeVerifierFile.map(InputFile.secret)
        input.rawNonce = try rawNonceFile.map(InputFile.secret)
        let stored = try await global.withClient { [input] client in
            try await client.putCredential(
                input,
                user: user.user,
                provider: ProviderName(provider.name)
            )
        }
        try global.print(stored, "\(stored.identityID)  \(stored.state)")
    }
}
