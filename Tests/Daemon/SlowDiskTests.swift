import Synchronization
import Systemd
import Testing

@testable import Daemon

/// What keeps systemd from ending a service whose disk is slow.
@Suite struct SlowDiskTests {
    @Test func `an answer or a commit since the last time shows that the writer moves`() {
        var progress = WriterProgress()
        func moves(_ commitCount: Int, at seconds: Int) -> Bool {
            let hasMoved = progress.hasMoved(commitCount, at: .seconds(seconds))
            _ = progress.begin(at: .seconds(seconds))
            return hasMoved
        }
        let atStart = moves(7, at: 0)
        #expect(atStart)
        let unanswered = moves(7, at: 15)
        #expect(!unanswered)
        let committed = moves(8, at: 30)
        #expect(committed)
        let committedForLong = moves(9, at: 600)
        #expect(committedForLong)
        let withoutEngine = moves(10, at: 601)
        #expect(!withoutEngine)
        progress.answered(isAlive: true)
        let answered = moves(10, at: 615)
        #expect(answered)
        progress.answered(isAlive: false)
        let dead = moves(11, at: 630)
        #expect(!dead)
    }

    @Test func `one probe at a time`() {
        var progress = WriterProgress()
        let first = progress.begin(at: .zero)
        let second = progress.begin(at: .seconds(15))
        progress.answered(isAlive: true)
        let third = progress.begin(at: .seconds(30))
        #expect([first, second, third] == [true, false, true])
    }

    @Test(.timeLimit(.minutes(5)))
    func `a start gets more time at once, and while the disk answers`() async throws {
        let script = Script([5, 5, 6, 6, 9])
        let result = try await script.timeouts.during {
            for await _ in script.end {}
            return "up"
        }
        #expect(result == "up")
        let more = "EXTEND_TIMEOUT_USEC=60000000"
        #expect(script.sent == [more, more, more])
    }

    @Test(.timeLimit(.minutes(5)))
    func `a service that runs asks for no time until it stops`() async throws {
        let script = Script([1, 2])
        let (isWaiting, noteWaiting) = AsyncStream.makeStream(of: Never.self)
        let (isStopping, stop) = AsyncStream.makeStream(of: Never.self)
        // Asked for its first element by what waits for the stop.
        let beforeStop = AsyncStream<Never>(unfolding: {
            noteWaiting.finish()
            for await _ in isStopping {}
            return nil
        })
        try await script.timeouts.during(after: beforeStop) {
            for await _ in isWaiting {}
            #expect(script.sent.isEmpty && script.leftCount == 2)
            stop.finish()
            for await _ in script.end {}
        }
        #expect(script.sent.count == 2)
    }

    /// A disk by the calls that have ended, at the begin and after each interval.
    private final class Script: Sendable {
        let end: AsyncStream<Never>
        private let ending: AsyncStream<Never>.Continuation
        private let counts: Mutex<[UInt64]>
        private let messages = Mutex<[String]>([])

        init(_ counts: [UInt64]) {
            self.counts = Mutex(counts)
            (end, ending) = AsyncStream.makeStream(of: Never.self)
        }

        var sent: [String] { messages.withLock { $0 } }
        var leftCount: Int { counts.withLock(\.count) }

        var timeouts: TimeoutExtension {
            TimeoutExtension(
                notifier: ServiceNotifier(
                    send: { message in self.messages.withLock { $0.append(message) } },
                    monotonicMicroseconds: { 0 }
                ),
                progress: { self.next() },
                sleep: { _ in await Task.yield() }
            )
        }

        /// The last count stays, and ends what is extended.
        private func next() -> UInt64 {
            counts.withLock { counts in
                guard counts.count > 1 else {
                    ending.finish()
                    return counts[0]
                }
                return counts.removeFirst()
            }
        }
    }
}
