import CLinux
import Encoding
import Glibc
import Lifecycle
package import Logging
import Synchronization

/// Writes log entries on a thread of its own, so that no caller waits for the output.
///
/// sd_journal_sendv(3) and write(2) block when the other side does not read. From half of the
/// capacity on, entries of info and below are dropped; one entry reports how many.
package final class LogQueue: Sendable {
    /// Entries that may wait, of about 1 KiB each.
    package static let capacityDefault = 4096

    private let state = Mutex(State())
    private let wake: Int32
    private let capacity: Int
    private let output: @Sendable (LogEntry) -> Bool

    private struct State {
        var waiting: [LogEntry] = []
        var accepted = 0
        var finished = 0
        var dropped = 0
        var isSleeping = false
        var isClosed = false
        var flushes: [Int32: Int] = [:]
    }

    /// `output` writes one entry, may block, and returns whether it was taken.
    ///
    /// - Throws: ``SystemdError`` when the kernel has no descriptor or thread left.
    package init(
        capacity: Int = LogQueue.capacityDefault,
        output: @escaping @Sendable (LogEntry) -> Bool
    ) throws(SystemdError) {
        (self.capacity, self.output) = (capacity, output)
        wake = clinux_event_make()
        guard wake >= 0 else { throw Self.failure(wake) }
        let answer = SystemThread.start("expunged-log") { self.run() }
        guard answer == 0 else { throw Self.failure(answer) }
    }

    /// Starts the thread for one of the two real outputs.
    package convenience init(output: LogOutput) throws(SystemdError) {
        try self.init(output: { entry in output.write(entry) })
    }

    deinit {
        if wake >= 0 { _ = Glibc.close(wake) }
    }

    /// Never waits.
    package func submit(_ entry: LogEntry) {
        let mustWake = state.withLock { state in
            let limit = entry.priority >= 6 ? capacity / 2 : capacity
            guard state.waiting.count < limit, !state.isClosed else {
                state.dropped += 1
                return false
            }
            state.waiting.append(entry)
            state.accepted += 1
            defer { state.isSleeping = false }
            return state.isSleeping
        }
        if mustWake { clinux_event_signal(wake) }
    }

    /// Waits until everything submitted so far is written; blocks the thread, so only for the exit.
    @discardableResult
    package func flush(timeout: Duration) -> Bool {
        let finished = clinux_event_make()
        guard finished >= 0 else { return false }
        defer { _ = Glibc.close(finished) }
        let isDone = state.withLock { state in
            guard state.finished < state.accepted else { return true }
            state.flushes[finished] = state.accepted
            return false
        }
        if isDone { return true }
        let milliseconds = timeout / .milliseconds(1)
        let answer = clinux_event_wait(finished, Int32(min(max(milliseconds, 0), 3_600_000)))
        // The thread signals under the lock: after this, nobody uses the descriptor.
        state.withLock { _ = $0.flushes.removeValue(forKey: finished) }
        return answer == 0
    }

    /// Writes what waits first; later entries are dropped.
    package func close() {
        state.withLock { $0.isClosed = true }
        clinux_event_signal(wake)
    }

    private func run() {
        while true {
            let (batch, isClosed) = state.withLock { state in
                let batch = state.waiting
                state.waiting = []
                state.isSleeping = batch.isEmpty
                return (batch, state.isClosed)
            }
            guard !batch.isEmpty else {
                if isClosed { return }
                clinux_event_wait(wake, -1)
                continue
            }
            for entry in batch { write(entry) }
            reportDropped()
        }
    }

    private func write(_ entry: LogEntry) {
        let isTaken = output(entry)
        state.withLock { state in
            state.finished += 1
            if !isTaken { state.dropped += 1 }
            for (descriptor, goal) in state.flushes where goal <= state.finished {
                clinux_event_signal(descriptor)
            }
        }
    }

    private func reportDropped() {
        let dropped = state.withLock { state in
            defer { state.dropped = 0 }
            return state.dropped
        }
        guard dropped > 0 else { return }
        let event = JournalEvent.journalOverflow
        let isTaken = output(
            LogEntry(
                level: .init(event.severity),
                message: event.name,
                metadata: [JournalField.eventKey: "\(event.rawValue)", "count": "\(dropped)"]
            )
        )
        if !isTaken { state.withLock { $0.dropped += dropped } }
    }

    private static func failure(_ answer: Int32) -> SystemdError {
        let cause = "\(ErrorNumber(-answer))"
        return SystemdError(.system, cannot: "start the log queue", at: "thread", because: cause)
    }
}

/// Sends swift-log events to a ``LogQueue``, with the metadata that ``JournalField`` names.
package struct JournalLogHandler: LogHandler {
    package var metadata: Logger.Metadata = [:]
    package var logLevel: Logger.Level
    package var metadataProvider: Logger.MetadataProvider?

    private let queue: LogQueue
    private let observe: @Sendable (LogEntry) -> Void

    /// `observe` gets a copy of each entry, and must not wait.
    package init(
        queue: LogQueue,
        level: Logger.Level = .info,
        observe: @escaping @Sendable (LogEntry) -> Void = { _ in }
    ) {
        (self.queue, self.observe) = (queue, observe)
        logLevel = level
    }

    package subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    package func log(event: Logging.LogEvent) {
        var facts = metadata
        if let provided = metadataProvider?.get() {
            facts.merge(provided) { _, new in new }
        }
        if let given = event.metadata {
            facts.merge(given) { _, new in new }
        }
        if let error = event.error, facts[JournalField.error.rawValue] == nil {
            facts[JournalField.error.rawValue] = "\(error)"
        }
        let entry = LogEntry(
            level: event.level,
            message: event.message.description,
            metadata: facts
        )
        queue.submit(entry)
        observe(entry)
    }
}

/// A thread of its own for work that blocks; it ends with its body or with the process.
package enum SystemThread {
    private final class Body: Sendable {
        let run: @Sendable () -> Void

        init(_ run: @escaping @Sendable () -> Void) { self.run = run }
    }

    /// Returns 0, or a negative errno with nothing started; `name` has at most 15 bytes.
    package static func start(_ name: String, _ run: @escaping @Sendable () -> Void) -> Int32 {
        let context = unsafe Unmanaged.passRetained(Body(run))
        let answer = unsafe clinux_thread_start(
            name,
            { context in
                guard let context = unsafe context else { return }
                unsafe Unmanaged<Body>.fromOpaque(context).takeRetainedValue().run()
            },
            context.toOpaque()
        )
        if answer != 0 { unsafe context.release() }
        return answer
    }
}
