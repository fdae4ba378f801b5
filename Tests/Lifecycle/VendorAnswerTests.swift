import Lifecycle
import Testing

/// The last answer of a vendor about one identity.
struct VendorAnswerTests {
    private static let answer = VendorAnswer(
        Refusal(status: 400, error: "odd"),
        words: "Not today"
    )

    @Test func `an answer stays until a call is answered otherwise`() throws {
        var machine = Machine()
        try machine.send(.due)
        machine.heard = Self.answer
        try machine.answer(check: .failure(.unusable))
        #expect(machine.request.revocations[0].answer == Self.answer)
        machine.heard = nil
        try machine.sendDue()
        try machine.answer(check: .failure(.lost))
        #expect(machine.request.revocations[0].answer == nil)
    }

    @Test func `a call that was not made for a refused client takes nothing away`() throws {
        var machine = Machine()
        try machine.send(.due)
        let refusal = Refusal(status: 401, error: "invalid_client", client: "app")
        let said = VendorAnswer(Refusal(status: 401, error: "invalid_client"), words: "Who is it?")
        machine.heard = said
        try machine.answer(check: .failure(.refusesAll(refusal)))
        machine.heard = nil
        try machine.sendDue()
        try machine.answer(check: .failure(.refusesAll(refusal)))
        #expect(machine.request.revocations[0].answer == said)
        try machine.sendDue()
        try machine.answer(check: .failure(.notConfigured(client: "app")))
        #expect(machine.request.revocations[0].answer == said)
        // Another client's answer, which decided nothing, does not stand for it.
        machine.heard = Self.answer
        try machine.sendDue()
        try machine.answer(check: .failure(.refusesAll(refusal)))
        #expect(machine.request.revocations[0].answer == VendorAnswer(refusal))
    }

    @Test func `a success leaves none, though another client was refused before it`() throws {
        var machine = Machine()
        try machine.send(.due)
        machine.heard = Self.answer
        try machine.answer(check: .live)
        #expect(machine.request.revocations[0].answer == nil)
    }

    @Test func `the answer is announced with the wait for a sign-in, and its words go with the end`() throws {
        var machine = Machine(in: Sample.environment(Sample.traits(canCheck: false)))
        try machine.send(.due)
        machine.heard = Self.answer
        let effects = try machine.answer(revoke: .unfit)
        #expect(
            effects == [
                .announce(
                    .parked(
                        .needsReauthentication,
                        at: Sample.snapshot().provider,
                        Self.answer.refusal
                    )
                )
            ]
        )
        machine.heard = nil
        try machine.send(.abandon)
        #expect(machine.verdict == .abandoned)
        #expect(machine.request.revocations[0].answer == Self.answer.withoutWords)
    }

    @Test func `a text says what it does not say yet`() {
        #expect(Self.answer.text == "400 odd: Not today")
        #expect(Self.answer.added(to: "lost") == "lost; the answer: 400 odd: Not today")
        let refused = "refused: 400 odd"
        #expect(Self.answer.added(to: refused) == "\(refused); in its words: Not today")
        #expect(Self.answer.withoutWords.added(to: refused) == refused)
    }
}
