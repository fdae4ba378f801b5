import Engine
import Storage
import Systemd

/// Has systemd wait for a start or a stop while the disk answers (`EXTEND_TIMEOUT_USEC`,
/// sd_notify(3)).
struct TimeoutExtension: Sendable {
    /// Twice in the shortest timeout of the unit, `TimeoutStopSec=`.
    static let interval = Duration.seconds(15)
    /// For one call of the disk, and the time until it is noticed.
    static let length = Duration.seconds(60)

    let notifier: ServiceNotifier
    /// Grows while the work moves.
    var progress: @Sendable () -> UInt64 = { StateDatabase.diskCallCount }
    var sleep: Sleep = BootClock.sleeping

    /// Extends from the end of `start` to the end of `body`.
    func during<R: Sendable>(
        after start: AsyncStream<Never>? = nil,
        _ body: @escaping @Sendable () async throws -> R
    ) async throws -> R {
        try await withThrowingTaskGroup(of: R?.self) { group in
            group.addTask {
                try await extend(after: start)
                return nil
            }
            group.addTask { try await body() }
            defer { group.cancelAll() }
            while let ended = try await group.next() {
                if let result = ended { return result }
            }
            throw CancellationError()
        }
    }

    private func extend(after start: AsyncStream<Never>?) async throws {
        if let start {
            for await _ in start {}
        }
        // The disk may first answer in an interval that ends after the timeout.
        notifier.extendTimeout(by: Self.length)
        var before = progress()
        while !Task.isCancelled {
            try await sleep(Self.interval)
            let now = progress()
            if now != before { notifier.extendTimeout(by: Self.length) }
            before = now
        }
    }
}
