import Lifecycle
import Testing

/// Which actions of an operator a request refuses before anything of them is recorded.
struct OperatorActionTests {
    private static let second = ProviderName("second")
    private static let third = ProviderName("third")

    private static func abandon(_ provider: ProviderName?) -> OperatorAction {
        .abandon(provider, configured: [Sample.apple, third])
    }

    static let others: [OperatorAction] = [
        .cancel, .retry, .hold, .approve,
        .release(isUserHeld: false, hasOwnHold: false),
        .release(isUserHeld: false, hasOwnHold: true),
        .release(isUserHeld: true, hasOwnHold: true),
    ]

    @Test("an open request is asked itself", arguments: others)
    func allowed(_ action: OperatorAction) throws {
        try Machine().request.check(action)
    }

    @Test(
        "a request that has ended refuses everything",
        arguments: others + [abandon(nil), abandon(second)],
        [PhaseRow.completed, .cancelled]
    )
    func ended(_ action: OperatorAction, _ row: PhaseRow) throws {
        let request = try row.machine(.deleteAccount).request
        #expect(throws: OperationRefusal.alreadyEnded) { try request.check(action) }
    }

    @Test func `a hold on the user is not lifted with one of its requests`() throws {
        let action = OperatorAction.release(isUserHeld: true, hasOwnHold: false)
        #expect(throws: OperationRefusal.userOnHold) { try Machine().request.check(action) }
    }

    struct Case: Sendable {
        /// Of both providers; `nil` for one that is open.
        var apple: Verdict?
        var second: Verdict?
        var row = PhaseRow.open(.checking)
        let provider: ProviderName?
        let refusal: OperationRefusal?
    }

    static let cases: [Case] = [
        Case(provider: nil, refusal: nil),
        Case(provider: Sample.apple, refusal: .providersOpen),
        Case(provider: second, refusal: .providersOpen),
        // Configured, and no link of this user.
        Case(provider: third, refusal: .nothingToAbandon),
        Case(provider: ProviderName("none"), refusal: .unknownProvider),
        Case(apple: .proven, provider: nil, refusal: nil),
        Case(apple: .proven, provider: second, refusal: nil),
        Case(apple: .proven, provider: Sample.apple, refusal: .nothingToAbandon),
        Case(apple: .proven, second: .accepted, provider: nil, refusal: .nothingToAbandon),
        Case(apple: .proven, second: .accepted, provider: second, refusal: .nothingToAbandon),
        Case(row: .open(.accepted), provider: nil, refusal: nil),
        Case(row: .open(.purging), provider: nil, refusal: .nothingToAbandon),
        Case(row: .open(.purging), provider: second, refusal: .nothingToAbandon),
        Case(row: .parked(.verifying, .onHold), provider: nil, refusal: .nothingToAbandon),
        // The purge waits for keys: that is what is abandoned.
        Case(row: .parked(.verifying, .withoutKeys), provider: nil, refusal: nil),
        Case(
            row: .parked(.verifying, .withoutKeys),
            provider: Sample.apple,
            refusal: .nothingToAbandon
        ),
    ]

    @Test("a provider is abandoned as the last, and before the purge", arguments: cases)
    func abandons(_ example: Case) throws {
        var request = try example.row.machine(.deleteAccount).request
        request.revocations = [Sample.apple, Self.second].map { name in
            Revocation(Sample.snapshot(provider: name))
        }
        request.revocations[0].verdict = example.apple
        request.revocations[1].verdict = example.second
        let action = Self.abandon(example.provider)
        var refusal: OperationRefusal?
        do { try request.check(action) } catch { refusal = error }
        #expect(refusal == example.refusal)
    }

    @Test func `without any identity the machine itself decides`() throws {
        var request = Machine(identities: []).request
        request.phase = .open(.purging)
        try request.check(Self.abandon(nil))
        #expect(throws: OperationRefusal.nothingToAbandon) {
            try request.check(Self.abandon(Sample.apple))
        }
    }
}
