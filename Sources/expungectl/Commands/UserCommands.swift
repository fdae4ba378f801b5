import ArgumentParser
import Control
import ControlClient
import Lifecycle

struct Identities: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "List a user's identities, never their secrets."
    )

    @Argument(help: UserID.help) var user: UserID
    @OptionGroup var global: GlobalOptions

    func run() async throws {
        try await global.show(.identities(of: user)) { RequestReport.identities($0.items) }
    }
}

struct StoreCredential: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "store-credential",
        abstract: "Seal a credential of a user into the vault.",
        discussion: "Secrets come from files; without --secret-file, from standard input."
    )

    @Argument(help: UserID.help) var user: UserID
    @Argument(help: "The provider that issued it.") var provider: ProviderName
    @Option(help: "The kind of the credential.") var kind: CredentialKind
    @Option(help: "The client id, if the provider has several.") var clientID: String?
    @Option(help: "The provider's id of the user, if known.") var subject: String?
    @Option(help: "The credential.", completion: .file()) var secretFile: String = "-"
    @Option(help: "The PKCE verifier of a code.", completion: .file())
    var codeVerifierFile: String?
    @Option(help: "The nonce before hashing.", completion: .file()) var rawNonceFile: String?
    @Option(help: "The redirect URI of the authorize request.") var redirectURI: String?
    @OptionGroup var global: GlobalOptions

    func validate() throws {
        try InputFile.requireOneFromInput([secretFile, codeVerifierFile, rawNonceFile])
    }

    func run() async throws {
        var input = SubmittedCredential(kind: kind, secret: try InputFile.secret(secretFile))
        input.clientID = clientID
        input.subject = subject.map { Secret($0) }
        input.redirectURI = redirectURI
        input.codeVerifier = try codeVerifierFile.map(InputFile.secret)
        input.rawNonce = try rawNonceFile.map(InputFile.secret)
        try await global.show(.putCredential(input, user: user, provider: provider)) {
            "\($0.identityID)  \($0.state)"
        }
    }
}

struct Reauthorize: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Submit a fresh sign-in for a request that waits for one.",
        discussion: """
            Secrets come from files; - is standard input. Without --id-token-file and \
            --code-file, the id token comes from standard input.
            """
    )

    @Argument(help: RequestReference.help, completion: LiveValues.reauthorize)
    var id: RequestReference
    @Option(help: "The provider where the user signed in.") var provider: ProviderName
    @Option(help: "The client id, if the provider has several.") var clientID: String?
    @Option(help: "The id token.", completion: .file()) var idTokenFile: String?
    @Option(help: "The nonce before hashing.", completion: .file()) var rawNonceFile: String?
    @Option(help: "The authorization code.", completion: .file()) var codeFile: String?
    @Option(help: "The PKCE verifier of the code.", completion: .file())
    var codeVerifierFile: String?
    @Option(help: "The redirect URI of the authorize request.") var redirectURI: String?
    @OptionGroup var global: GlobalOptions

    func validate() throws {
        try InputFile.requireOneFromInput([idTokenFile, rawNonceFile, codeFile, codeVerifierFile])
    }

    func run() async throws {
        var input = ReauthorizeInput(provider: provider)
        input.clientID = clientID
        input.redirectURI = redirectURI
        let tokenFile = idTokenFile ?? (codeFile == nil ? "-" : nil)
        input.idToken = try tokenFile.map(InputFile.secret)
        input.rawNonce = try rawNonceFile.map(InputFile.secret)
        input.code = try codeFile.map(InputFile.secret)
        input.codeVerifier = try codeVerifierFile.map(InputFile.secret)
        let call = ControlCall.reauthorize(try await global.resolve(id), with: input)
        try await global.show(call) { RequestReport.list([$0]) }
    }
}

struct Forget: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Destroy an identity's credentials without revoking them."
    )

    @Argument(help: UserID.help) var user: UserID
    @Argument(help: "The identity.") var identity: IdentityID
    @OptionGroup var global: GlobalOptions

    func run() async throws {
        try await global.call(.forgetIdentity(identity, of: user))
        if !global.json { Console.write("forgotten") }
    }
}
