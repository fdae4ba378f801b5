import Lifecycle
import Storage
import Synchronization
import Testing
import Vault

@testable import Daemon
@testable import Engine

@Suite("The time of what comes in") struct IntakeClockTests {
    private static let hour = Duration.seconds(3600)
    /// The true time of every request here.
    private static let now = Bench.start + hour * 2

    /// A machine that has run for two hours by a wrong clock, which somebody sets.
    private final class Machine: Sendable {
        private struct State {
            var error: Duration
            var uptime = Duration.zero
            var readingsLeft = Int.max
        }

        private let state: Mutex<State>

        init(error: Duration) { state = Mutex(State(error: error)) }

        var clocks: MachineClocks {
            MachineClocks(
                wall: {
                    self.state.withLock { state in
                        if state.readingsLeft <= 0 { state.error = .zero }
                        state.readingsLeft -= 1
                        return Bench.start + state.uptime + state.error
                    }
                },
                uptime: { self.state.withLock { $0.uptime } }
            )
        }

        func pass(_ time: Duration) { state.withLock { $0.uptime += time } }

        func set(by step: Duration) { state.withLock { $0.error += step } }

        /// Sets the clock after so many readings more.
        func setClock(after readings: Int) { state.withLock { $0.readingsLeft = readings } }
    }

    /// What the engine does with jumps of the clock: a commit for each, some time later.
    private final class Jumps: Sendable {
        private let heard = Mutex<[ClockStep]>([])

        func hear(_ step: ClockStep) { heard.withLock { $0.append(step) } }

        func settle(_ state: StateDatabase) async {
            let steps = heard.withLock { steps in
                defer { steps = [] }
                return steps
            }
            do {
                for step in steps {
                    _ = try await state.commit([.reclock(step, at: IntakeClockTests.now)])
                }
            } catch {
                Issue.record(error)
            }
        }
    }

    private func submission(_ bench: Bench, createdAt: WallTime? = nil) throws -> Submission {
        Submission(
            kind: .deleteAccount,
            user: try #require(UserID("alice")),
            userHash: bench.hasher.hash("alice", domain: .user),
            createdAt: createdAt,
            origin: .control(uid: 1, role: "submit")
        )
    }

    @Test(
        "a request is dated by one clock, at whichever reading that is set",
        arguments: [Duration.seconds(-365 * 86_400), .seconds(600)],
        0...6
    )
    func jump(_ error: Duration, _ readings: Int) async throws {
        let bench = try Bench()
        let (machine, jumps) = (Machine(error: error), Jumps())
        let clock = AnchoredClock(clocks: machine.clocks)
        clock.onStep { jumps.hear($0) }
        machine.pass(Self.hour * 2)
        machine.setClock(after: readings)
        let vault = SealedVault(keyring: VaultKeyring(active: try Bench.key(1)))
        let credentials = try bench.service(vault)
        let service = IntakeService(
            state: bench.state,
            hasher: bench.hasher,
            registry: credentials.registry,
            credentials: credentials,
            clock: IntakeClock(
                clock: clock,
                floor: { .distantPast },
                settleClock: { await jumps.settle(bench.state) },
                beginAdmission: { .latest }
            ),
            logger: bench.log.logger
        )
        let outcomes = try await service.accept([submission(bench)])
        guard case .accepted(let loaded, _)? = outcomes.first else {
            Issue.record("it is accepted")
            return
        }
        machine.setClock(after: 0)
        _ = clock.now()
        await jumps.settle(bench.state)
        let stored = try await bench.state.openRequests([loaded.request.id]).first?.request
        #expect(stored?.acceptedAt == Self.now)
        #expect(stored?.createdAt == Self.now)
        #expect(stored?.notBefore == Self.now)
    }

    private func intakeClock(floor: WallTime) -> IntakeClock {
        let machine = Machine(error: .zero)
        machine.pass(Self.hour * 2)
        return intakeClock(AnchoredClock(clocks: machine.clocks), floor)
    }

    private func intakeClock(_ clock: AnchoredClock, _ floor: WallTime) -> IntakeClock {
        IntakeClock(
            clock: clock,
            floor: { floor },
            settleClock: {},
            beginAdmission: { .latest }
        )
    }

    @Test func `what is accepted while the clock is behind is not older than its floor`() throws {
        let bench = try Bench()
        let floor = Self.now + Self.hour
        for noted in [nil, Self.now - Self.hour] {
            let asked = try submission(bench, createdAt: noted)
            #expect(intakeClock(floor: floor).corrected(asked).datedUpTo == floor)
            #expect(intakeClock(floor: Self.now).corrected(asked).datedUpTo == nil)
        }
    }

    @Test("a time that the clock has shown twice is no cutoff: nothing older than the row is left")
    func shownTwice() throws {
        let bench = try Bench()
        let machine = Machine(error: .zero)
        let clock = AnchoredClock(clocks: machine.clocks)
        machine.pass(Self.hour)
        // The clock shows the next ten minutes, and then comes right by way of last month.
        for step in [Duration.seconds(600), .seconds(-30 * 86_400 - 600), .seconds(30 * 86_400)] {
            machine.set(by: step)
            _ = clock.now()
            machine.pass(.seconds(200))
        }
        machine.pass(.seconds(100))
        let noted = clock.now()
        machine.set(by: .seconds(20))
        let now = clock.now()
        let asked = try submission(bench, createdAt: noted)
        let taken = intakeClock(clock, .distantPast).corrected(asked)
        #expect(max(noted, clock.corrected(noted)) < now, "the sum of the jumps does not tell")
        #expect(taken.createdAt ?? now >= now)
        #expect(taken.datedUpTo == nil)
    }

    @Test func `what is noted after the last jump keeps its time`() throws {
        let bench = try Bench()
        let machine = Machine(error: .zero)
        let clock = AnchoredClock(clocks: machine.clocks)
        machine.pass(Self.hour)
        machine.set(by: .seconds(-600))
        let noted = clock.now()
        machine.pass(.seconds(60))
        let asked = try submission(bench, createdAt: noted + .seconds(30))
        let taken = intakeClock(clock, .distantPast).corrected(asked)
        #expect(taken.createdAt == noted + .seconds(30))
        #expect(taken.datedUpTo == nil)
    }

    @Test func `what a clock that was ahead has dated goes up to the time that it showed`() throws {
        let bench = try Bench()
        let machine = Machine(error: Self.hour)
        let clock = AnchoredClock(clocks: machine.clocks)
        machine.pass(.seconds(60))
        let noted = clock.now()
        // A second jump in between: no single one leads back from there.
        for step in [Duration.seconds(90), .seconds(-3690)] {
            machine.set(by: step)
            _ = clock.now()
        }
        let intake = intakeClock(clock, .distantPast)
        let taken = intake.corrected(try submission(bench, createdAt: noted))
        #expect(taken.createdAt == nil)
        #expect(taken.datedUpTo == noted)
        // No clock has shown this one.
        let odd = intake.corrected(try submission(bench, createdAt: noted + Self.hour))
        #expect(odd.createdAt == nil)
        #expect(odd.datedUpTo == nil)
    }
}
