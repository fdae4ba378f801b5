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
        machine.lastAnswer = Self.answer
        try machine.answer(check: .failure(.unusable))
        #expect(machine.request.revocations[0].answer == Self.answer)
        machine.lastAnswer = nil
        try machine.sendDue()
        try machine.answer(check: .failure(.lost))
        #expect(machine.request.revocations[0].answer == nil)
    }

    @Test func `a call that was not made for a refused client takes nothing away`() throws {
        var machine = Machine()
        try machine.send(.due)
        let refusal = Refusal(status: 401, error: "invalid_client", client: "app")
        let answered = Refusal(status: 401, error: "invalid_client")
        machine.lastAnswer = VendorAnswer(answered, words: "Who is it?")
        try machine.answer(check: .failure(.refusesAll(refusal)))
        machine.lastAnswer = nil
        try machine.sendDue()
        try machine.answer(check: .failure(.refusesAll(refusal)))
        let kept = VendorAnswer(answered, words: "Who is it?", isNamed: true)
        #expect(machine.request.revocations[0].answer == kept)
        try machine.sendDue()
        try machine.answer(check: .failure(.notConfigured(client: "app")))
        #expect(machine.request.revocations[0].answer == VendorAnswer(answered, words: kept.words))
        // Another client's answer, which decided nothing, does not stand for it.
        machine.lastAnswer = Self.answer
        try machine.sendDue()
        try machine.answer(check: .failure(.refusesAll(refusal)))
        #expect(machine.request.revocations[0].answer == VendorAnswer(refusal, isNamed: true))
    }

    @Test func `a success leaves none, though another client was refused before it`() throws {
        var machine = Machine()
        try machine.send(.due)
        machine.lastAnswer = Self.answer
        try machine.answer(check: .live)
        #expect(machine.request.revocations[0].answer == nil)
    }

    @Test func `a wait for a sign-in names the answer, whose words go with the end`() throws {
        var machine = Machine(in: Sample.environment(Sample.traits(canCheck: false)))
        try machine.send(.due)
        machine.lastAnswer = Self.answer
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
        machine.lastAnswer = nil
        try machine.send(.abandon)
        #expect(machine.verdict == .abandoned)
        #expect(machine.request.revocations[0].answer == Self.answer.withoutWords)
    }

    @Test func `a text says what the failure does not name`() {
        let named = Self.answer.beside(Self.answer.refusal)
        #expect(Self.answer.text == "400 odd: Not today")
        #expect(Self.answer.added(to: "lost") == "lost; the answer: 400 odd: Not today")
        #expect(named.added(to: "refused: 400 odd") == "refused: 400 odd; in its words: Not today")
        #expect(named.withoutWords.added(to: "refused: 400 odd") == "refused: 400 odd")
        // A text that only looks like it names nothing.
        let part = VendorAnswer(Refusal(status: 400)).beside(Self.answer.refusal)
        #expect(part.added(to: "refused: 400 odd") == "refused: 400 odd; the answer: 400")
    }
}
