import Lifecycle
import Testing

/// A verification finds rows that an application's clock dated in the future.
struct WrongDateTests {
    private static let future = VerifyAnswer.failure(
        .blocked(Obstacle(.future, at: "posts", name: "made"))
    )

    private static func blocked() throws -> Machine {
        var machine = Machine()
        try machine.revokeEverything()
        try machine.answer(purge: .done(PurgeCounts()))
        try machine.answer(verify: future)
        return machine
    }

    @Test func `the first time is kept, and ends with an operator's retry`() throws {
        var machine = try Self.blocked()
        let first = machine.now
        #expect(machine.request.purges[0].judgedAt == first)
        try machine.sendDue()
        try machine.answer(verify: Self.future)
        #expect(machine.now > first)
        #expect(machine.request.purges[0].judgedAt == first)
        try machine.send(.retry)
        #expect(machine.request.purges[0].judgedAt == nil)
    }

    @Test func `a step of the clock corrects it`() throws {
        var machine = try Self.blocked()
        let first = machine.now
        let step = ClockStep(from: first - .seconds(60), to: first, by: .seconds(3600))
        machine.request.reclock(step, at: first + .seconds(3600))
        #expect(machine.request.purges[0].judgedAt == first + .seconds(3600))
    }
}
