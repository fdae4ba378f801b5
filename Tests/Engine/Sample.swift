import Engine
import Lifecycle

/// Names, times and parts that the tests of the core share.
enum Sample {
    static let start = WallTime(unixMilliseconds: 1_763_712_000_000)
    static let day = Duration.seconds(86_400)
    static let apple = ProviderName("apple")
    static let other = ProviderName("other")
    static let database = StoreName("app-db")

    static func request(_ number: Int) -> RequestID {
        RequestID(TimeOrderedID(high: 1, low: UInt64(number)))
    }

    static func identity(_ number: Int) -> IdentityID {
        IdentityID(TimeOrderedID(high: 2, low: UInt64(number)))
    }

    static func credential(_ number: Int) -> CredentialID {
        CredentialID(rowID: Int64(number))
    }

    static func configuration(
        concurrency: Int = 8,
        purgesPerHourMax: Int = 1000,
        approval: ApprovalPolicy = .none
    ) -> EngineConfiguration {
        let traits = ProviderTraits(
            canCheckRefreshToken: false,
            refreshInterval: day,
            livenessLifetime: day,
            revokesWholeGrant: true,
            // Success is worth something for a token that nobody has seen live.
            refusesUnknownTokens: true,
            userActionURL: "",
            userActionText: ""
        )
        let policy = ProviderPolicy(
            traits: traits,
            onUnrevocable: .proceed,
            revocationDeadline: day * 7
        )
        let limits = LaneLimits(concurrency: concurrency)
        var configuration = EngineConfiguration(
            providers: [apple: policy, other: policy],
            lanes: [apple: limits, other: limits],
            stores: [database],
            withoutIdentities: .proceed,
            purgesPerHourMax: purgesPerHourMax
        )
        configuration.approval = approval
        return configuration
    }

    static func sealed(
        _ number: Int,
        kind: CredentialKind = .refreshToken,
        provider: ProviderName = apple
    ) -> SealedCredential {
        SealedCredential(
            id: credential(number),
            kind: kind,
            provider: provider,
            clientID: "com.example.app",
            userHash: [UInt8(truncatingIfNeeded: number)],
            rowNonce: [],
            sealedSecret: [],
            sealedCodeVerifier: nil,
            redirectURI: nil,
            fingerprint: [],
            userKey: WrappedKey(bytes: [], keyID: "")
        )
    }

    static func snapshot(
        _ number: Int,
        credentials: [CredentialWork]? = nil,
        provider: ProviderName = apple
    ) -> IdentitySnapshot {
        let token = CredentialWork(id: credential(number), kind: .refreshToken, step: .stored)
        return IdentitySnapshot(
            identity: identity(number),
            provider: provider,
            clientID: "com.example.app",
            isShared: false,
            credentials: credentials ?? [token]
        )
    }

    /// A deletion with one refresh token, numbered like its identity and credential.
    static func loaded(
        _ number: Int,
        kind: RequestKind = .deleteAccount,
        provider: ProviderName? = apple,
        notBefore: WallTime = start,
        unseen: [IdentitySnapshot] = []
    ) -> LoadedRequest {
        let identities = provider.map { [snapshot(number, provider: $0)] } ?? []
        let request = Request(
            id: request(number),
            kind: kind,
            createdAt: start,
            acceptedAt: start,
            notBefore: notBefore,
            deadlineAt: start + day * 30,
            identities: identities,
            stores: [database]
        )
        guard let user = UserID("user-\(number)") else { fatalError("a user id of the test") }
        return LoadedRequest(
            request: request,
            user: user,
            userHash: [UInt8(truncatingIfNeeded: number)],
            credentials: provider.map { [credential(number): sealed(number, provider: $0)] } ?? [:],
            unseen: unseen
        )
    }

    static func code(
        _ number: Int,
        phase: CodeExchange.Phase = .pending,
        createdAt: WallTime = start
    ) -> LoadedExchange {
        let exchange = CodeExchange(
            credential: credential(number),
            identity: identity(number),
            provider: apple,
            createdAt: createdAt,
            phase: phase
        )
        return LoadedExchange(
            exchange: exchange,
            credential: sealed(number, kind: .authorizationCode)
        )
    }
}
