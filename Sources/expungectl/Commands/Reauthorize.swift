import ArgumentParser
import Control
import ControlClient
import Lifecycle

struct Reauthorize: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Submit a fresh sign-in for a request that waits for one.",
        discussion: """
            Secrets come from files; - is standard input. Without --id-token-file and \
            --code-file, the id token comes from standard input.
            """
    )

    @Argument(help: RequestArgument.help)
    var id: RequestArgument
    @Option(name: .long, help: "The provider where the user signed in.")
    var provider: NameArgument
    @Option(name: .long, help: "The client id, if the provider has several.")
    var clientID: String?
    @Option(name: .long, help: "The id token.", completion: .file())
    var idTokenFile: String?
    @Option(name: .long, help: "The nonce before hashing.", completion: .file())
    var rawNonceFile: String?
    @Option(name: .long, help: "The authorization code.", completion: .file())
    var codeFile: String?
    @Option(name: .long, help: "The PKCE verifier of the code.", completion: .file())
    var codeVerifierFile: String?
    @Option(name: .long, help: "The redirect URI of the authorize request.")
    var redirectURI: String?
    @OptionGroup var global: GlobalOptions

    func validate() throws {
        let files = [idTokenFile, rawNonceFile, codeFile, codeVerifierFile]
        guard files.filter({ $0 == "-" }).count <= 1 else {
            throw ValidationError("only one secret can come from standard input")
        }
    }

    func run() async throws {
        var input = ReauthorizeInput(provider: ProviderName(provider.name))
        input.clientID = clientID
        input.redirectURI = redirectURI
        let tokenFile = idTokenFile ?? (codeFile == nil ? "-" : nil)
        input.idToken = try tokenFile.map(InputFile.secret)
        input.rawNonce = try rawNonceFile.map(InputFile.secret)
        input.code = try codeFile.map(InputFile.secret)
        input.codeVerifier = try codeVerifierFile.map(InputFile.secret)
        let request = try await global.withClient { [input] client in
            try await client.reauthorize(id.id, with: input)
        }
        try global.print(request, RequestReport.list([request]))
    }
}
