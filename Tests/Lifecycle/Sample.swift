import Lifecycle

/// Names, times and parts that the tests of the machine share.
enum Sample {
    static let start = WallTime(unixMilliseconds: 1_763_712_000_000)
    static let day = Duration.seconds(86_400)
    static let apple = ProviderName("apple")
    static let database = StoreName("app-db")
    static let files = StoreName("files")
    static let identity = IdentityID(TimeOrderedID(high: 1, low: 1))
    static let token = CredentialID(rowID: 1)
    static let secondToken = CredentialID(rowID: 2)
    static let freshToken = CredentialID(rowID: 9)
    /// What the purge of a store brings into which no key led.
    static let notLookedFor = PurgeCounts(entries: [
        .init(name: "app-db.customer", action: .notLookedFor, rowCount: 0)
    ])

    /// Apple's rules unless told: one refresh a day, live for a day, one revoke ends the grant.
    static func traits(
        canCheck: Bool = true,
        canCheckAccessToken: Bool = false,
        refreshInterval: Duration = day,
        livenessLifetime: Duration = day,
        revokesWholeGrant: Bool = true,
        hasNoRevocationAPI: Bool = false,
        extraKinds: Set<CredentialKind> = [],
        canCheckSubject: Bool = false,
        rotatesRefreshTokens: Bool = false,
        checksByRefresh: Bool = true,
        refusesUnknownTokens: Bool = false,
        asksRefusedTokens: Bool = false
    ) -> ProviderTraits {
        ProviderTraits(
            canCheckRefreshToken: canCheck,
            canCheckAccessToken: canCheckAccessToken,
            canCheckSubject: canCheckSubject,
            refreshInterval: refreshInterval,
            livenessLifetime: livenessLifetime,
            revokesWholeGrant: revokesWholeGrant,
            refusesUnknownTokens: refusesUnknownTokens,
            hasNoRevocationAPI: hasNoRevocationAPI,
            extraKinds: extraKinds,
            rotatesRefreshTokens: rotatesRefreshTokens,
            checksByRefresh: checksByRefresh,
            asksRefusedTokens: asksRefusedTokens,
            userActionURL: "",
            userActionText: ""
        )
    }

    static func environment(
        _ traits: ProviderTraits = traits(),
        onUnrevocable: OnUnrevocable = .proceed
    ) -> Environment {
        let policy = ProviderPolicy(
            traits: traits,
            onUnrevocable: onUnrevocable,
            revocationDeadline: day * 7
        )
        return Environment(providers: [apple: policy])
    }

    static func credential(
        _ step: CredentialStep = .stored,
        id: CredentialID = token,
        kind: CredentialKind = .refreshToken,
        wasLive: Bool = false,
        lastLiveAt: WallTime? = nil,
        lastRefreshAt: WallTime? = nil
    ) -> CredentialWork {
        CredentialWork(
            id: id,
            kind: kind,
            step: step,
            intent: wasLive ? .durable(wasLive: true) : .none,
            lastLiveAt: lastLiveAt,
            lastRefreshAt: lastRefreshAt
        )
    }

    static func snapshot(
        _ credentials: [CredentialWork] = [credential()],
        identity: IdentityID = identity,
        provider: ProviderName = apple,
        clientID: String = "com.example.app",
        isShared: Bool = false,
        hadCredentials: Bool = false,
        isCut: Bool = false
    ) -> IdentitySnapshot {
        IdentitySnapshot(
            identity: identity,
            provider: provider,
            clientID: clientID,
            isShared: isShared,
            credentials: credentials,
            hadCredentials: hadCredentials,
            isCut: isCut
        )
    }

    static let submitter: UInt32 = 1000
    static let approver: UInt32 = 1001

    /// A plan of the sample identity and store; its hash tells its rows.
    static func plan(
        rows: Int = 1,
        links: [PurgePlan.Link] = [
            PurgePlan.Link(identity: identity, provider: apple, clientID: "com.example.app")
        ]
    ) -> PurgePlan {
        let item = PlanItem(name: "posts", action: .delete, count: rows)
        return PurgePlan(
            links: links,
            parts: [PurgePlan.Part(store: database, items: [item])],
            hash: "plan of \(rows)"
        )
    }
}
