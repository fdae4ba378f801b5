import Lifecycle
import Storage
import Synchronization
import Testing
import Vault

@testable import Daemon
@testable import Engine

@Suite("What outlives a restart about the clock") struct ClockKeeperTests {
    private static let year = Duration.seconds(365 * 86_400)

    /// A machine whose clock is set, and a service that is killed and started again on it.
    private final class Machine: Sendable {
        let bench: Bench
        private let times = Mutex((wall: Bench.start, uptime: Duration.seconds(100)))

        init() throws { bench = try Bench() }

        var clock: AnchoredClock {
            AnchoredClock(
                clocks: MachineClocks(
                    wall: { self.times.withLock { $0.wall } },
                    uptime: { self.times.withLock { $0.uptime } }
                )
            )
        }

        func pass(_ time: Duration) {
            times.withLock { $0 = ($0.wall + time, $0.uptime + time) }
        }

        func set(by step: Duration) { times.withLock { $0.wall = $0.wall + step } }

        /// A start of the service.
        func start(
            _ clock: AnchoredClock,
            boot: String = "one"
        ) async throws -> (keeper: ClockKeeper, floor: WallTime) {
            let keeper = ClockKeeper(
                state: bench.state,
                clock: clock,
                ledger: try bench.keeper(clock),
                environment: ["EXPUNGED_BOOT_ID": boot],
                builtAt: .distantPast,
                logger: bench.log.logger
            )
            return (keeper, try await keeper.start())
        }

        /// An application hands in a deletion.
        func submit(_ now: WallTime) async throws -> LoadedRequest {
            try await bench.submit("ann", stores: [StoreName("db")], at: now)
        }

        /// When an open request was accepted, as the state has it.
        func acceptedAt(_ id: RequestID) async throws -> WallTime? {
            try await bench.state.openRequests([id]).first?.request.acceptedAt
        }
    }

    @Test("a kill between a jump and its commit loses nothing, although a reading was kept")
    func killBeforeCommit() async throws {
        let machine = try Machine()
        let clock = machine.clock
        let keeper = try await machine.start(clock).keeper
        machine.pass(.seconds(10))
        let id = try await machine.submit(clock.now()).request.id
        machine.pass(.seconds(10))
        machine.set(by: Self.year)
        // Each jump ends the sleep before the hourly reading.
        try await keeper.renew()
        _ = try await machine.start(machine.clock)
        #expect(try await machine.acceptedAt(id) == Bench.start + .seconds(10) + Self.year)
    }

    @Test("a jump found in the report of the one before stops nothing", .timeLimit(.minutes(5)))
    func jumpInReport() async throws {
        let machine = try Machine()
        let clock = machine.clock
        let keeper = try await machine.start(clock).keeper
        machine.set(by: Self.year)
        keeper.report(ClockStep(from: Bench.start, to: Bench.start, by: Self.year))
        #expect(keeper.steppedAt == clock.now())
    }

    @Test("a kill after the commit of a jump does not repeat it")
    func killAfterCommit() async throws {
        let machine = try Machine()
        let clock = machine.clock
        let keeper = try await machine.start(clock).keeper
        let steps = Mutex<[ClockStep]>([])
        clock.onStep { step in steps.withLock { $0.append(step) } }
        machine.pass(.seconds(10))
        let id = try await machine.submit(clock.now()).request.id
        for _ in 0..<2 {
            machine.pass(.seconds(60))
            machine.set(by: Self.year)
            let now = clock.now()
            try await keeper.renew()
            let heard = steps.withLock { steps in
                defer { steps = [] }
                return steps
            }
            _ = try await machine.bench.state.commit(heard.map { .reclock($0, at: now) })
        }
        machine.pass(.seconds(60))
        try await keeper.renew()
        machine.pass(.seconds(60))
        _ = try await machine.start(machine.clock)
        #expect(try await machine.acceptedAt(id) == Bench.start + .seconds(10) + Self.year * 2)
    }

    @Test("a request seems to be of later when the clock is set back by a second while down")
    func slewWhileDown() async throws {
        let machine = try Machine()
        let first = machine.clock
        _ = try await machine.start(first)
        machine.pass(.seconds(10))
        let id = try await machine.submit(first.now()).request.id
        machine.set(by: .milliseconds(-1500))
        let clock = machine.clock
        _ = try await machine.start(clock)
        let steps = Mutex<[ClockStep]>([])
        clock.onStep { step in steps.withLock { $0.append(step) } }
        machine.set(by: Self.year)
        let now = clock.now()
        let heard = steps.withLock { $0 }
        _ = try await machine.bench.state.commit(heard.map { .reclock($0, at: now) })
        #expect(try await machine.acceptedAt(id) == now)
    }

    @Test("a start knows the jumps before it: an application may have noted times before them")
    func jumpsOfEarlierRuns() async throws {
        let machine = try Machine()
        let clock = machine.clock
        _ = try await machine.start(clock)
        let steps = Mutex<[ClockStep]>([])
        clock.onStep { step in steps.withLock { $0.append(step) } }
        machine.pass(.seconds(10))
        let noted = clock.now()
        machine.set(by: Self.year)
        let now = clock.now()
        let heard = steps.withLock { $0 }
        _ = try await machine.bench.state.commit(heard.map { .reclock($0, at: now) })
        let next = machine.clock
        _ = try await machine.start(next)
        #expect(next.corrected(noted) == noted + Self.year)
        #expect(!next.isSteady(since: noted))
        #expect(next.isSteady(since: now))
    }

    @Test("a row from before a boot keeps its time unless that boot's clock jumped later")
    func rowsOfTheBootBefore() async throws {
        let machine = try Machine()
        _ = try await machine.start(machine.clock)
        let early = machine.clock.now()
        machine.pass(.seconds(10))
        machine.set(by: Self.year)
        // The start after it finds the jump.
        _ = try await machine.start(machine.clock)
        machine.pass(.seconds(60))
        let late = machine.clock.now()
        machine.pass(.seconds(60))
        let clock = machine.clock
        _ = try await machine.start(clock, boot: "two")
        #expect(clock.isSteady(since: late))
        #expect(!clock.isSteady(since: early))
        machine.pass(.seconds(60))
        let restarted = machine.clock
        _ = try await machine.start(restarted, boot: "two")
        #expect(restarted.isSteady(since: late))
        #expect(!restarted.isSteady(since: early))
    }

    @Test("several small steps back count together: nobody waits for longer than a minute")
    func severalSmallStepsBack() async throws {
        let machine = try Machine()
        _ = try await machine.start(machine.clock)
        machine.pass(.seconds(7200))
        let shown = machine.clock.now()
        machine.set(by: .seconds(-20))
        let once = try await machine.start(machine.clock)
        #expect(once.floor >= shown)
        #expect(once.floor.since(machine.clock.now()) <= Limits.clockWaitMax)
        machine.set(by: .seconds(-48))
        let twice = try await machine.start(machine.clock)
        #expect(twice.floor.since(machine.clock.now()) <= .zero)
    }

    @Test("a kill after the commit of a small step back forgets neither wait nor forgiveness")
    func killAfterStepBack() async throws {
        let machine = try Machine()
        let clock = machine.clock
        _ = try await machine.start(clock)
        machine.pass(.seconds(100))
        let to = clock.now()
        machine.set(by: .seconds(-30))
        let step = ClockStep(from: Bench.start, to: to, by: .seconds(-30), number: 1)
        _ = try await machine.bench.state.commit([.reclock(step, at: clock.now())])
        #expect(try await machine.start(machine.clock).floor == to)
        #expect(try await machine.bench.state.clockRecord()?.forgiven == to)
    }

    @Test("a jump while the service starts reaches the engine")
    func jumpDuringStart() async throws {
        let machine = try Machine()
        let first = machine.clock
        _ = try await machine.start(first)
        let id = try await machine.submit(first.now()).request.id
        let clock = machine.clock
        let keeper = try await machine.start(clock).keeper
        machine.pass(.seconds(10))
        machine.set(by: Self.year)
        let now = clock.now()
        try await keeper.renew()
        let steps = Mutex<[ClockStep]>([])
        clock.onStep { step in steps.withLock { $0.append(step) } }
        let heard = steps.withLock { $0 }
        _ = try await machine.bench.state.commit(heard.map { .reclock($0, at: now) })
        #expect(try await machine.acceptedAt(id) == Bench.start + Self.year)
        #expect(try await machine.bench.state.clockRecord()?.stepNumber == 1)
    }

    @Test("a code that an application dated before a jump is as new as it is")
    func spooledCredential() async throws {
        let machine = try Machine()
        machine.set(by: .zero - Self.year - .seconds(60))
        let (bench, clock) = (machine.bench, machine.clock)
        let dated = clock.now() + .seconds(5)
        machine.pass(.seconds(10))
        machine.set(by: Self.year)
        let service = try bench.service(
            SealedVault(keyring: VaultKeyring(active: try Bench.key(1)))
        )
        let intake = IntakeService(
            state: bench.state,
            hasher: bench.hasher,
            registry: service.registry,
            credentials: service,
            clock: IntakeClock(
                clock: clock,
                floor: { .distantPast },
                settleClock: {},
                beginAdmission: { .latest }
            ),
            logger: bench.log.logger
        )
        _ = clock.now()
        let code = CredentialOffer(
            user: try #require(UserID("ann")),
            userHash: bench.hasher.hash("ann", domain: .user),
            provider: ProviderName("apple"),
            credential: SubmittedCredential(kind: .authorizationCode, secret: Secret("code")),
            createdAt: dated,
            spoolRow: SpoolRow(
                spoolID: "s",
                rowID: 1,
                fingerprint: bench.hasher.hash("code", domain: .spoolRow)
            )
        )
        let batch = SpoolBatch(credentials: [code], requests: [], refused: [])
        let receipts = try await intake.take(batch).credentials
        #expect(receipts == [SpoolCredentialReceipt.sealed])
        let stored = try await bench.state.recover(isOwnCrash: false, at: Bench.start).exchanges
        #expect(stored.map(\.exchange.createdAt) == [dated + Self.year])
    }
}
