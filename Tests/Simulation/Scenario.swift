import Engine
import Lifecycle
import Testing

let apple = ProviderName("apple")
let other = ProviderName("other")
/// Rotates refresh tokens, and a used one that comes back ends its family.
let rotating = ProviderName("rotating")
/// Holds the accounts, and tells where they are linked.
let directory = ProviderName("directory")
/// A way to sign in that is no provider.
let password = ProviderName("password")
/// Linked by some, configured by nobody.
let unconfigured = ProviderName("github.com")
/// Lets tokens die that nobody uses for half a year.
let idling = ProviderName("idling")
let database = StoreName("app-db")
let files = StoreName("files")
/// Knows each user by an id of its own, which rows of the database name.
let crm = StoreName("crm")

/// A named course of events, and what must hold when it is over.
struct Scenario: Sendable, CustomTestStringConvertible {
    let name: String
    let prepare: @Sendable (inout Simulator) -> Void
    /// The states that the first request may end in.
    let ends: Set<RequestState>
    var span = Duration.seconds(40 * 86_400)
    var approval = ApprovalPolicy.none

    var testDescription: String { name }

    static func configuration(
        onUnrevocable: OnUnrevocable = .proceed,
        purgesPerHourMax: Int = 1000,
        approval: ApprovalPolicy = .none,
        hasClocks: Bool = false,
        isKeyed: Bool = false
    ) -> EngineConfiguration {
        let traits = ProviderTraits(
            canCheckRefreshToken: true,
            refreshInterval: .seconds(86_400),
            livenessLifetime: .seconds(86_400),
            revokesWholeGrant: true,
            userActionURL: "",
            userActionText: ""
        )
        let policy = ProviderPolicy(
            traits: traits,
            onUnrevocable: onUnrevocable,
            revocationDeadline: .seconds(7 * 86_400)
        )
        // A clock so short that lives meet renewals.
        let day = hasClocks ? Duration.seconds(86_400) : nil
        let rotatingPolicy = clocked(day, onUnrevocable, mayRotate: true)
        let idlingPolicy = clocked(day.map { $0 * 180 }, onUnrevocable, mayRotate: false)
        let limits = LaneLimits(concurrency: 8)
        var configuration = EngineConfiguration(
            providers: [
                apple: policy, other: policy, rotating: rotatingPolicy, idling: idlingPolicy,
            ],
            lanes: [
                apple: limits, other: limits, rotating: limits, idling: limits, directory: limits,
            ],
            stores: isKeyed ? [database, files, crm] : [database, files],
            withoutIdentities: .proceed,
            purgesPerHourMax: purgesPerHourMax,
            directory: directory
        )
        configuration.approval = approval
        if isKeyed { configuration.keySources[crm] = database }
        return configuration
    }

    static func clocked(
        _ lifetime: Duration?,
        _ onUnrevocable: OnUnrevocable,
        mayRotate: Bool,
        canCheck: Bool = true
    ) -> ProviderPolicy {
        let traits = ProviderTraits(
            canCheckRefreshToken: canCheck,
            refreshInterval: .seconds(60),
            livenessLifetime: .seconds(300),
            revokesWholeGrant: true,
            rotatesRefreshTokens: mayRotate,
            tokenClock: lifetime.map { TokenClock($0) },
            userActionURL: "",
            userActionText: ""
        )
        return ProviderPolicy(
            traits: traits,
            onUnrevocable: onUnrevocable,
            revocationDeadline: .seconds(7 * 86_400),
            keepAlive: KeepAlivePolicy(
                traits: traits,
                isWanted: true,
                warnBefore: .seconds(14 * 86_400)
            )
        )
    }

    /// Nobody asks for anything for ten months, far longer than an unused token lives.
    static let tenMonthsIdle = Scenario(
        name: "an identity that is idle for ten months is revoked all the same",
        prepare: { sim in
            sim.world.idleLives[idling] = .seconds(180 * 86_400)
            sim.world.idleLives[rotating] = .seconds(2 * 86_400)
            sim.storeToken(user: 1, provider: idling)
            sim.storeToken(user: 2, provider: rotating)
            sim.at(.seconds(300 * 86_400)) { sim in
                for user in 1...2 { sim.submit(.deleteAccount, user: user) }
            }
        },
        ends: [.completed],
        span: .seconds(320 * 86_400)
    )

    static let all: [Scenario] = usual + approvals

    private static let usual: [Scenario] = [
        Scenario(
            name: "a stored token is revoked and the data purged",
            prepare: { sim in
                sim.storeToken(user: 1, provider: apple)
                sim.at(.seconds(1)) { $0.submit(.deleteAccount, user: 1) }
            },
            ends: [.completed]
        ),
        Scenario(
            name: "a code at sign-in becomes proof at deletion",
            prepare: { sim in
                sim.signIn(user: 1, provider: apple)
                sim.at(.seconds(60)) { $0.submit(.deleteAccount, user: 1) }
            },
            ends: [.completed]
        ),
        Scenario(
            name: "a code that arrives with the deletion",
            prepare: { sim in
                sim.at(.seconds(1)) { sim in
                    sim.signIn(user: 1, provider: apple)
                    sim.submit(.deleteAccount, user: 1)
                }
            },
            ends: [.completed]
        ),
        Scenario(
            name: "a code that is too old parks and a fresh one completes",
            prepare: { sim in
                sim.signIn(user: 1, provider: apple, codeAge: .seconds(600))
                sim.at(.seconds(5)) { $0.submit(.deleteAccount, user: 1) }
                sim.at(.seconds(3600)) { $0.signIn(user: 1, provider: apple) }
            },
            ends: [.completed]
        ),
        Scenario(
            name: "a code that is too old ends unrevoked after the deadline",
            prepare: { sim in
                sim.signIn(user: 1, provider: apple, codeAge: .seconds(600))
                sim.at(.seconds(5)) { $0.submit(.deleteAccount, user: 1) }
            },
            ends: [.completed]
        ),
        Scenario(
            name: "two providers, one down for hours",
            prepare: { sim in
                sim.storeToken(user: 1, provider: apple)
                sim.storeToken(user: 1, provider: other)
                sim.faults.outages[other] = sim.now + .seconds(2 * 3600)
                sim.at(.seconds(1)) { $0.submit(.deleteAccount, user: 1) }
            },
            ends: [.completed]
        ),
        Scenario(
            name: "a link that only the directory knows ends unrevoked after the deadline",
            prepare: { sim in
                sim.storeToken(user: 1, provider: apple)
                sim.world.links[1] = [apple, other, password, unconfigured]
                sim.at(.seconds(1)) { $0.submit(.deleteAccount, user: 1) }
            },
            ends: [.completed]
        ),
        Scenario(
            name: "a link that only the directory knows is revoked after a fresh sign-in",
            prepare: { sim in
                sim.world.links[1] = [other, password]
                sim.at(.seconds(1)) { $0.submit(.deleteAccount, user: 1) }
                sim.at(.seconds(3600)) { $0.signIn(user: 1, provider: other) }
            },
            ends: [.completed]
        ),
        Scenario(
            name: "a deletion from before the directory finds a link that only the directory knows",
            prepare: { sim in
                sim.storeToken(user: 1, provider: apple)
                sim.world.links[1] = [apple, other, password]
                sim.isDirectoryUnknownAtIntake = true
                sim.at(.seconds(1)) { $0.submit(.deleteAccount, user: 1) }
            },
            ends: [.completed]
        ),
        Scenario(
            name: "a directory that is down for hours holds the deletion up",
            prepare: { sim in
                sim.storeToken(user: 1, provider: apple)
                sim.world.links[1] = [apple, password]
                sim.faults.outages[directory] = sim.now + .seconds(2 * 3600)
                sim.at(.seconds(1)) { $0.submit(.deleteAccount, user: 1) }
            },
            ends: [.completed]
        ),
        Scenario(
            name: "a token that rotates with every refresh",
            prepare: { sim in
                sim.storeToken(user: 1, provider: rotating)
                sim.at(.seconds(1)) { $0.submit(.deleteAccount, user: 1) }
            },
            ends: [.completed]
        ),
        Scenario(
            name: "two requests want the same rotating token at once",
            prepare: { sim in
                sim.storeToken(user: 1, provider: rotating)
                sim.at(.seconds(1)) { sim in
                    sim.submit(.revokeTokens, user: 1)
                    sim.submit(.deleteAccount, user: 1)
                }
            },
            ends: [.completed]
        ),
        Scenario(
            name: "revoke only purges nothing",
            prepare: { sim in
                sim.storeToken(user: 1, provider: apple)
                sim.at(.seconds(1)) { $0.submit(.revokeTokens, user: 1) }
            },
            ends: [.completed]
        ),
        Scenario(
            name: "a grace period that ends",
            prepare: { sim in
                sim.storeToken(user: 1, provider: apple)
                sim.at(.seconds(1)) { $0.submit(.deleteAccount, user: 1, grace: .seconds(86_400)) }
            },
            ends: [.completed]
        ),
        Scenario(
            name: "a cancel within the grace period",
            prepare: { sim in
                sim.storeToken(user: 1, provider: apple)
                sim.at(.seconds(1)) { $0.submit(.deleteAccount, user: 1, grace: .seconds(86_400)) }
                sim.at(.seconds(60)) { sim in
                    for id in sim.acknowledged.sorted() { sim.operate(id, .cancel) }
                }
            },
            ends: [.cancelled, .completed]
        ),
        Scenario(
            name: "a hold that is released",
            prepare: { sim in
                sim.storeToken(user: 1, provider: apple)
                sim.at(.seconds(1)) { sim in
                    let id = sim.submit(.deleteAccount, user: 1, grace: .seconds(60))
                    sim.holdUntilDone(id)
                }
                sim.at(.seconds(86_400)) { $0.releaseAll() }
            },
            ends: [.completed]
        ),
        Scenario(
            name: "a hold on a store that is lifted",
            prepare: { sim in
                sim.storeToken(user: 1, provider: apple)
                sim.placeUntilDone(Simulator.hold("a", on: database))
                sim.at(.seconds(1)) { $0.submit(.deleteAccount, user: 1) }
                sim.at(.seconds(86_400)) { $0.liftAllHolds() }
            },
            ends: [.completed]
        ),
        Scenario(
            name: "a hold on rows that is lifted",
            prepare: { sim in
                sim.storeToken(user: 1, provider: apple)
                sim.placeUntilDone(Simulator.hold("a", on: files, isOfRows: true))
                sim.at(.seconds(1)) { $0.submit(.deleteAccount, user: 1) }
                sim.at(.seconds(86_400)) { $0.liftAllHolds() }
            },
            ends: [.completed]
        ),
        Scenario(
            name: "several tokens of one identity",
            prepare: { sim in
                for _ in 0..<3 { sim.storeToken(user: 1, provider: apple) }
                sim.storeToken(user: 1, provider: apple, isLive: false)
                sim.at(.seconds(1)) { $0.submit(.deleteAccount, user: 1) }
            },
            ends: [.completed]
        ),
        Scenario(
            name: "a token that the provider refuses for good",
            prepare: { sim in
                sim.storeToken(user: 1, provider: apple, isLive: false)
                sim.at(.seconds(1)) { $0.submit(.deleteAccount, user: 1) }
            },
            ends: [.completed]
        ),
        Scenario(
            name: "a user without any identity",
            prepare: { sim in
                sim.at(.seconds(1)) { $0.submit(.deleteAccount, user: 1) }
            },
            ends: [.completed]
        ),
        Scenario(
            name: "twenty users at once",
            prepare: { sim in
                for user in 1...20 {
                    sim.storeToken(user: user, provider: user % 3 == 0 ? other : apple)
                }
                sim.at(.seconds(1)) { sim in
                    for user in 1...20 {
                        sim.submit(.deleteAccount, user: user, key: "key-\(user)")
                    }
                }
            },
            ends: [.completed]
        ),
        Scenario(
            name: "a pause that is lifted wakes everybody, page by page",
            prepare: { sim in
                for user in 1...7 { sim.storeToken(user: user, provider: apple) }
                sim.pauseUntilDone(apple)
                sim.at(.seconds(1)) { sim in
                    for user in 1...7 { sim.submit(.deleteAccount, user: user, key: "\(user)") }
                }
                sim.at(.seconds(3600)) { $0.resumeUntilDone(apple) }
            },
            ends: [.completed]
        ),
        Scenario(
            name: "an operator abandons what cannot be revoked",
            prepare: { sim in
                sim.signIn(user: 1, provider: apple, codeAge: .seconds(600))
                sim.at(.seconds(5)) { $0.submit(.deleteAccount, user: 1) }
                sim.at(.seconds(3600)) { sim in
                    for id in sim.acknowledged.sorted() { sim.operate(id, .abandon) }
                }
            },
            ends: [.completed]
        ),
    ]
}

extension Simulator {
    /// Holds a request as an operator does: again until it is acknowledged, also across a crash.
    mutating func holdUntilDone(_ id: RequestID) {
        guard !isHealed else { return }
        let ticket = operate(id, .hold)
        at(.seconds(2)) { sim in
            switch sim.outcomes[ticket] {
            case .done: if !sim.isHealed { sim.held.insert(id) }
            case .refused, .notOpen: return
            case nil: sim.holdUntilDone(id)
            }
        }
    }

    /// Pauses a provider as an operator does: again until that is durable.
    mutating func pauseUntilDone(_ provider: ProviderName) {
        turn([.pause(provider, reason: "operator")])
        at(.milliseconds(500)) { sim in
            if sim.disk.pauses.providers[provider] == nil { sim.pauseUntilDone(provider) }
        }
    }

    mutating func resumeUntilDone(_ provider: ProviderName) {
        turn([.resume(provider)])
        at(.seconds(2)) { sim in
            if sim.disk.pauses.providers[provider] != nil { sim.resumeUntilDone(provider) }
        }
    }

    mutating func releaseAll() {
        for id in acknowledged.sorted() where request(id)?.isHeld ?? false { release(id) }
    }

    private mutating func release(_ id: RequestID) {
        held.remove(id)
        operate(id, .release)
        at(.seconds(2)) { sim in
            if sim.request(id)?.isHeld ?? false { sim.release(id) }
        }
    }
}
