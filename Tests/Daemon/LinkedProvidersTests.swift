import HTTP
import Lifecycle
import Logging
import NIOPosix
import Testing
import Vault

@testable import Daemon
@testable import Engine
@testable import Providers

/// Firebase's links beside the vault's identities, for every set of linked providers.
@Suite("Which of the vault's identities a directory's links are")
struct LinkedProvidersTests {
    private static let user = [UInt8](repeating: 7, count: 32)
    private static let tenant = "c0c0c0c0-0000-4000-8000-000000000001"
    private static let personal = "9188040d-6c67-4c5b-b112-36a304b66dad"
    private static let hasher = DirectHasher()

    /// A provider, the vault's subject, and Firebase's `rawId` of the same user and of another one.
    private struct Kind {
        let provider: ProviderName
        let subject: String
        let name: String
        let stranger: String
    }

    private static func kinds(isPersonal: Bool) -> [Kind] {
        let object = isPersonal ? "00000000-0000-0000-00f3-3332eca7ea81" : "\(tenant.dropLast())2"
        let microsoft = Kind(
            provider: ProviderName("microsoft"),
            subject: "\(object).\(isPersonal ? personal : tenant)",
            name: isPersonal ? "00f33332eca7ea81" : object,
            stranger: isPersonal ? "00f33332eca7ea82" : "\(tenant.dropLast())3"
        )
        let others = ["apple", "google", "facebook", "github", "x"].map {
            Kind(provider: ProviderName($0), subject: "\($0)-1", name: "\($0)-1", stranger: "2")
        }
        return others + [microsoft]
    }

    /// Also by a provider that could not be set up at the start.
    @Test(
        "a link is the identity of the same user, and of no other",
        arguments: [false, true],
        [false, true]
    )
    func every(isPersonal: Bool, isPending: Bool) async throws {
        let vault = SealedVault(keyring: VaultKeyring(active: try Bench.key(1)))
        let microsoft = try Self.microsoft()
        let pending = PendingProvider(microsoft.name, traits: microsoft.traits) { microsoft }
        #expect(await pending.setUp() == nil)
        let provider: any ConnectedProvider = isPending ? pending : microsoft
        let matcher = LinkMatcher(
            opener: CredentialOpener(vault: vault, hasher: Self.hasher, makeRowNonce: { [1] }),
            providers: [provider.name: provider]
        )
        let kinds = Self.kinds(isPersonal: isPersonal)
        let sealed = try kinds.map { try Self.sealed($0, vault) }
        for mask in 0..<(1 << kinds.count) {
            let linked = kinds.indices.filter { mask & 1 << $0 != 0 }
            for (isStranger, isKnown) in [(false, true), (true, true), (false, false)] {
                let links = linked.map { index in
                    DirectoryLink(
                        provider: kinds[index].provider,
                        isLocal: false,
                        subject: Secret(isStranger ? kinds[index].stranger : kinds[index].name)
                    )
                }
                let found = matcher.identities(
                    of: links,
                    among: isKnown ? sealed : [],
                    makeIdentity: { IdentityID(TimeOrderedID(high: 1, low: 1)) }
                )
                for (identity, index) in zip(found, linked) {
                    let isSame = identity.subjectHash == sealed[index].subject?.hash
                    let isExpected =
                        !isStranger && (isKnown || kinds[index].name == kinds[index].subject)
                    #expect(isSame == isExpected, "\(kinds[index].provider) of set \(mask)")
                }
                #expect(found.count == linked.count)
            }
        }
        await pending.shutdown()
    }

    private static func sealed(_ kind: Kind, _ vault: SealedVault) throws -> SealedCredential {
        let key = try vault.makeUserKey(userHash: user)
        let context = SealContext(
            field: SealField.subject.rawValue,
            rowNonce: [2],
            provider: kind.provider,
            userHash: user
        )
        var sealed = SealedCredential(
            id: CredentialID(rowID: 1),
            kind: .refreshToken,
            provider: kind.provider,
            clientID: "client",
            userHash: user,
            rowNonce: [1],
            sealedSecret: [],
            sealedCodeVerifier: nil,
            redirectURI: nil,
            fingerprint: [],
            userKey: key
        )
        sealed.subject = LearnedSubject(
            hash: SubjectHash.make(Secret(kind.subject), at: kind.provider, hasher),
            rowNonce: [2],
            sealed: try vault.seal(Secret(kind.subject), under: key, context: context)
        )
        return sealed
    }

    private static func microsoft() throws -> MicrosoftProvider {
        let environment = AdapterEnvironment(
            credential: { _, _ in Secret("") },
            signer: { key, _, _ in try HMACSigner(key: key) },
            eventLoopGroup: MultiThreadedEventLoopGroup.singleton,
            now: { Bench.start },
            logger: Logger(label: "test")
        )
        return try MicrosoftProvider(
            MicrosoftKind(
                tenant: "common",
                proof: .secret(credential: ""),
                graphTenants: [tenant]
            ),
            http: RemoteSettings(name: ProviderName("microsoft")),
            client: MicrosoftClient(
                clientID: "11111111-2222-4333-8444-555555555555",
                proof: .secret(Secret("secret"))
            ),
            in: environment
        )
    }
}

/// Hashes to the text itself.
private struct DirectHasher: KeyedHasher {
    func hash(_ text: String, domain: HashDomain) -> [UInt8] { Array(text.utf8) }
}
