package import Engine
import Lifecycle
import Synchronization

/// Carries rows of the spool, or of a queue, into the state and states back into it.
///
/// ```
/// commit of an application ──▶ SpoolWaker ────▶ import: read ≤ 500 rows ──▶ SpoolIntake (durable)
///                                                  │                            │
///                         settle: scrub credentials at once ◀───────────────────┤
///   signal() ─▶ mirror: ≤ 4 commits a second, the last state wins ◀─────────────┘
/// ```
///
/// Three loops share one connection; none waits for a lock inside SQLite, and none runs while
/// nothing happens. A file in failure is tried again with every change and every sweep.
package final class SpoolService: Sendable {
    /// What the service works with.
    package struct Ports: Sendable {
        package let intake: any SpoolIntake
        package let source: any SpoolMirrorSource
        package let hasher: any KeyedHasher
        package let clock: SpoolClock
        /// Called once per change of the spool's health.
        package let report: @Sendable (SpoolHealthChange) -> Void

        package init(
            intake: any SpoolIntake,
            source: any SpoolMirrorSource,
            hasher: any KeyedHasher,
            clock: SpoolClock,
            report: @escaping @Sendable (SpoolHealthChange) -> Void
        ) {
            (self.intake, self.source, self.hasher, self.clock) = (intake, source, hasher, clock)
            self.report = report
        }
    }

    struct Work: Sendable {
        var settlements: [CredentialSettlement] = []
        var isPaused = false
        /// Rows were not taken: read everything again with the next sweep.
        var mustRescan = false
        /// Rows have another content than the one that was taken: read everything again at once.
        var mustRescanNow = false
        var rescanAllowedAt = Duration.zero
        var rescanStartedAt: Duration?
        /// Rows that the rescan under way found too large.
        var rescanUnreadableCount = 0
        var wasMoved = false
        /// The file was opened and not read yet.
        var isFresh = false
        var openedAt: Duration?
        /// There was a file once.
        var isMade = false
        var unreadableSince: Duration?
        /// Whom a read answers once it has passed that credential.
        var goal: (mark: SpoolBarrier.Mark, last: Int64)?
        /// How often rows were postponed since some were taken.
        var postponedCount = 0
        /// The last question that the walk under way answers.
        var walkMark: SpoolBarrier.Mark = 0
    }

    let ports: Ports
    let database: any SpoolAccess
    let monitor: SpoolMonitor
    let work = Mutex(Work())
    let mirrorPace = Mutex(SpoolPace())
    let barrier = SpoolBarrier()
    let signalCount = Atomic(0)
    private let sweepInterval: Duration
    let lockedAfter: Duration
    let settleSignal = WakeSignal()
    /// Rows were not taken: they are offered again after a while.
    let postponedSignal = WakeSignal()
    private let mirrorSignal = WakeSignal()
    let unreadableSignal = WakeSignal()
    /// Makes the file where there is none; until that has worked once.
    private let make: (@Sendable () throws(StorageError) -> Void)?
    private let importSignal = Mutex<WakeSignal?>(nil)

    /// Nothing is opened before ``run()``.
    ///
    /// `host` is this one where several have a spool each. `sweepInterval` is the time between two
    /// checks of a file without an event, `lockedAfter` how long an application may hold its lock
    /// before that is reported.
    package convenience init(
        path: String,
        host: String? = nil,
        ports: Ports,
        sweepInterval: Duration = SpoolLimits.sweepInterval,
        lockedAfter: Duration = SpoolLimits.lockedAfter,
        make: (@Sendable () throws(StorageError) -> Void)? = nil
    ) {
        self.init(
            database: SpoolDatabase(
                path: path,
                host: host,
                hasher: ports.hasher,
                clock: ports.clock
            ),
            ports: ports,
            sweepInterval: sweepInterval,
            lockedAfter: lockedAfter,
            make: make
        )
    }

    /// The service of a queue; nothing is opened before ``run()``.
    ///
    /// `name` is the configured one, `wakeInterval` the longest wait for an update of the server.
    package convenience init(
        queue server: any QueueServer,
        name: String,
        ports: Ports,
        wakeInterval: Duration = QueueLimits.wakeInterval,
        sweepInterval: Duration = SpoolLimits.sweepInterval
    ) {
        self.init(
            database: QueueDatabase(
                server,
                name: name,
                hasher: ports.hasher,
                clock: ports.clock,
                wakeInterval: wakeInterval
            ),
            ports: ports,
            sweepInterval: sweepInterval
        )
    }

    init(
        database: any SpoolAccess,
        ports: Ports,
        sweepInterval: Duration,
        lockedAfter: Duration = SpoolLimits.lockedAfter,
        make: (@Sendable () throws(StorageError) -> Void)? = nil
    ) {
        (self.database, self.ports, self.sweepInterval) = (database, ports, sweepInterval)
        self.lockedAfter = lockedAfter
        self.make = make
        monitor = SpoolMonitor(report: ports.report)
    }

    /// Makes the file where there is none; `false` when that failed and the spool is quarantined.
    @discardableResult
    package func prepare() -> Bool {
        guard let make, !work.withLock({ $0.isMade }) else { return true }
        do {
            try make()
        } catch {
            monitor.quarantine(SpoolFailure(error.kind))
            return false
        }
        work.withLock { $0.isMade = true }
        return true
    }

    /// Works until the task is cancelled; run it once.
    ///
    /// What was taken is settled before it returns, unless another process has the lock.
    ///
    /// - Throws: ``StorageError`` when the kernel has no descriptor or thread left for watching.
    package func run() async throws {
        // Whoever waits for a read must not wait for one that never comes.
        defer { barrier.stop() }
        let watcher = try database.watch(every: sweepInterval)
        let poke = WakeSignal()
        importSignal.withLock { $0 = poke }
        poke.send()
        mirrorSignal.send()
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await watcher.watch() }
            group.addTask {
                for await _ in watcher.wakes { poke.send() }
            }
            group.addTask {
                for await _ in poke.signals { await self.importAll(watcher) }
            }
            group.addTask {
                for await _ in self.settleSignal.signals { await self.settleAll() }
            }
            group.addTask {
                for await _ in self.mirrorSignal.signals {
                    guard await self.rest(SpoolLimits.mirrorSettling) else { return }
                    await self.mirrorAll()
                }
            }
            group.addTask {
                for await _ in self.postponedSignal.signals {
                    let count = self.work.withLock { work in
                        work.postponedCount += 1
                        return work.postponedCount
                    }
                    let delay = RetryPolicy.postponedRow.delay(failures: count)
                    guard await self.rest(delay) else { return }
                    self.rescanNow()
                }
            }
            group.addTask {
                for await _ in self.unreadableSignal.signals {
                    guard await self.rest(SpoolLimits.unreadablePatience) else { return }
                    self.poke()
                }
            }
            await group.waitForAll()
        }
        barrier.stop()
        watcher.stop()
        importSignal.withLock { $0 = nil }
        await settleOnce()
        database.close()
    }

    package var health: SpoolHealth { monitor.health }

    /// States may have changed; cheap, and never wakes anything twice.
    package func signal() {
        signalCount.wrappingAdd(1, ordering: .relaxed)
        mirrorSignal.send()
    }

    /// Stops taking requests, or goes on.
    ///
    /// Credentials are taken and states shown in both cases: deletions under way need them.
    package func setPaused(_ isPaused: Bool) {
        work.withLock { $0.isPaused = isPaused }
        // Requests of meanwhile, and those that were postponed when the pause began.
        if !isPaused { rescanNow() }
    }

    func poke() { importSignal.withLock { $0 }?.send() }

    /// Rows that were read have changed since.
    func rescanNow() {
        work.withLock { $0.mustRescanNow = true }
        poke()
    }
}
