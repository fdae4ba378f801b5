import Testing

@testable import Lifecycle

/// A stored account without a name may be the one that the directory names, or another one.
struct UnnamedAccountTests {
    private static let directory = ProviderName("firebase")
    private static let web = ProviderName("web")
    private static let later = IdentityID(TimeOrderedID(high: 70, low: 1))
    private static let link = LinkedIdentity(
        identity: IdentityID(TimeOrderedID(high: 50, low: 50)),
        provider: Sample.apple,
        isLocal: false,
        subjectHash: [1]
    )

    /// A machine that keeps the calls that it asked for.
    private struct Run {
        var machine: Machine
        private var calls: [TokenCall] = []

        /// Has asked the directory, which named account 1.
        init(
            _ identities: [IdentitySnapshot],
            onUnrevocable: OnUnrevocable = .park
        ) throws {
            var environment = Sample.environment(onUnrevocable: onUnrevocable)
            environment.providers[UnnamedAccountTests.web] = environment.providers[Sample.apple]
            environment.directory = UnnamedAccountTests.directory
            machine = Machine(identities: identities, in: environment)
            machine.request.lookup = LookupWork(directory: UnnamedAccountTests.directory)
            try send(.due)
            try send(.lookedUp(.found([UnnamedAccountTests.link])))
        }

        var verdicts: [Verdict?] { machine.request.revocations.map(\.verdict) }
        var isPurging: Bool { machine.request.purgeStartedAt != nil }
        var isWaiting: Bool { machine.request.phase.parkReason == .needsReauthentication }

        mutating func send(_ event: RequestEvent) throws {
            for case .call(let call) in try machine.send(event) { calls.append(call) }
        }

        /// Answers every call as for a token that lived until it was revoked.
        mutating func revokeAll() throws {
            while !calls.isEmpty {
                let call = calls.removeFirst()
                switch call.work {
                case .check: try send(call.checked(.live))
                case .revoke: try send(call.revoked(.success))
                case .confirm: try send(call.checked(.dead))
                }
            }
        }
    }

    private static func account(
        _ subject: [UInt8]? = nil,
        token: CredentialID = Sample.token,
        identity: IdentityID = Sample.identity
    ) -> IdentitySnapshot {
        let seen = Sample.credential(id: token, lastLiveAt: Sample.start)
        var snapshot = Sample.snapshot([seen], identity: identity)
        snapshot.subjectHash = subject
        return snapshot
    }

    /// The name that a sign-in shows, and what the link ends with once all tokens are revoked.
    private static let names: [([UInt8], Verdict?)] = [([1], .proven), ([2], nil)]

    @Test("the link ends with the account once that is named as it", arguments: names)
    func named(_ subject: [UInt8], _ expected: Verdict?) throws {
        var run = try Run([Self.account()])
        #expect(run.machine.request.revocations.map(\.isLinked) == [false, true])
        var snapshot = Self.account(subject)
        snapshot.credentials.append(
            Sample.credential(id: Sample.secondToken, lastLiveAt: Sample.start)
        )
        try run.send(.identityChanged([snapshot]))
        try run.revokeAll()
        #expect(run.verdicts == [.proven, expected])
        #expect(run.isPurging == (expected != nil))
    }

    @Test("without a name a stored token or a sign-in ends it, unconfirmed", arguments: [0, 1])
    func nameless(_ storedCount: Int) throws {
        var run = try Run(Array(repeating: Self.account(), count: storedCount))
        if storedCount == 0 {
            #expect(run.isWaiting)
            try run.send(.identityChanged([Self.account()]))
        }
        try run.revokeAll()
        let link = run.machine.request.revocations.first(where: \.isLinked)
        #expect(link?.verdict == .unconfirmed && link?.proof == nil)
        #expect(run.isPurging)
    }

    /// Also if the name is read from the vault at a start, without an event of its own.
    @Test("a link opens again once its account is named as another one", arguments: [false, true])
    func reopened(_ isRestarted: Bool) throws {
        let code = Sample.credential(.unusable, id: Sample.freshToken, kind: .authorizationCode)
        let waiting = Sample.snapshot([code], identity: Self.later, provider: Self.web)
        var run = try Run([Self.account(), waiting])
        try run.revokeAll()
        #expect(run.verdicts == [.proven, nil, .unconfirmed])
        if isRestarted {
            run.machine.request.revocations[0].subjectHash = [2]
            try run.send(.due)
        } else {
            try run.send(.identityChanged([Self.account([2])]))
        }
        #expect(run.verdicts == [.proven, nil, nil])
    }

    @Test func `a second account at the provider does not let the link end with either`() throws {
        var run = try Run([Self.account()])
        let other = Self.account([2], token: Sample.secondToken, identity: Self.later)
        try run.send(.identityChanged([other]))
        try run.revokeAll()
        #expect(run.verdicts == [.proven, nil, .proven])
    }
}
