package import Engine
package import Lifecycle
import Synchronization

/// Why a host may not go on with a state that it shares.
package enum HostEnd: Hashable, Sendable {
    /// They work on it, and this host is to be alone.
    case others([String])
    /// Another host has found that the server has lost commits that it had acknowledged.
    case lostCommits
}

/// The state that several hosts share, as one of them works on it.
///
/// Intake, reports and all that is not the work of one partition use ``state``. Methods throw
/// ``StorageError``, or `CancellationError` in a cancelled task.
package final class SharedDatabase: Sendable {
    struct Memory {
        var purgesPerHourMax: Int
        let isOwnCrash: Bool
        /// Partitions that this process had at any time.
        var had = PartitionSet.none
        /// Whether it has begun without commits that the server had acknowledged.
        var knowsLoss: Bool
        /// Acquired from the process before this one, and not started yet.
        var inherited = PartitionSet.none
    }

    package let state: StateDatabase
    package var host: String { state.host }
    /// A hint of another host, or after a connection was lost.
    package let signals: AsyncStream<HostSignal>
    /// Why this host may not go on, as soon as a renewal of leases finds it.
    package let ends: AsyncStream<HostEnd>

    let server: PostgreSQLState
    let memory: Mutex<Memory>
    let answers = AnswerWaits()
    let uptime: @Sendable () -> Duration
    let isAlone: Bool
    let end: AsyncStream<HostEnd>.Continuation
    private let signal: AsyncStream<HostSignal>.Continuation
    private let listener: HostListener

    /// Signals that wait for their reader; one stands for many.
    private static let signalsMax = 16

    private init(
        _ plan: PostgreSQLStatePlan,
        _ state: StateDatabase,
        _ memory: Memory,
        isAlone: Bool
    ) throws {
        self.isAlone = isAlone
        (ends, end) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
        guard let server = state.backend as? PostgreSQLState else {
            throw StorageError(.unopenable, "share the state", at: state.path)
        }
        (self.state, self.server) = (state, server)
        self.memory = Mutex(memory)
        uptime = plan.uptime
        let (signals, signal) = AsyncStream.makeStream(
            of: HostSignal.self,
            bufferingPolicy: .bufferingNewest(Self.signalsMax)
        )
        (self.signals, self.signal) = (signals, signal)
        listener = try HostListener(plan) { [answers] words in
            if words.contains(.answers) { answers.wake() }
            if words.contains(.mail) { signal.yield(.mail) }
            if words.contains(.leases) { signal.yield(.leases) }
        }
    }

    deinit { listener.end() }

    /// Opens a state in PostgreSQL for one host among several, without any partition.
    ///
    /// `isOwnCrash` counts against the requests that the process before this one worked on, where
    /// its leases have not ended. A host that is to be alone (`isAlone`) takes nothing beside
    /// another one, which ``ends`` names. `willCommit` runs right before each COMMIT, for
    /// fault injection.
    ///
    /// - Throws: ``StorageError``: `unreachable`, `unopenable`, `otherSchema`.
    package static func open(
        _ plan: PostgreSQLStatePlan,
        purgesPerHourMax: Int,
        isOwnCrash: Bool = false,
        isAlone: Bool = false,
        now: @escaping @Sendable () -> WallTime,
        willCommit: @escaping @Sendable () throws -> Void = {}
    ) throws(StorageError) -> SharedDatabase {
        var plan = plan
        plan.isShared = true
        let state = try StateDatabase.open(plan, now: now, willCommit: willCommit)
        do {
            let memory = Memory(
                purgesPerHourMax: purgesPerHourMax,
                isOwnCrash: isOwnCrash,
                knowsLoss: try state.backend.writeNow {
                    try $0.fact(StateDatabase.lostCommits) != nil
                }
            )
            return try SharedDatabase(plan, state, memory, isAlone: isAlone)
        } catch {
            throw StorageError(error, "share the state", at: state.path)
        }
    }

    /// The mass-deletion guard of a new configuration.
    package func setPurgesPerHourMax(_ purges: Int) {
        memory.withLock { $0.purgesPerHourMax = purges }
    }

    /// Ends ``signals`` and waits for answers; after the leases were released.
    ///
    /// - Throws: ``StorageError``.
    package func close() async throws {
        answers.finish()
        signal.finish()
        end.finish()
        try listener.stop()
        try await state.close()
    }
}
