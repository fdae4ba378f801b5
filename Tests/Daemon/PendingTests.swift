import Engine
import Synchronization
import Testing

@testable import Daemon

@Suite("Adapters that are made later", .timeLimit(.minutes(5))) struct PendingTests {
    /// Lets a test finish what is being made.
    private final class Gate: Sendable {
        private let stream: AsyncStream<Void>
        private let signal: AsyncStream<Void>.Continuation

        init() { (stream, signal) = AsyncStream.makeStream() }

        func open() { signal.finish() }

        func wait() async { for await _ in stream {} }
    }

    @Test("one that is made after the shutdown is shut down at once")
    func madeTooLate() async {
        let (begun, finish) = (Gate(), Gate())
        let discarded = Mutex<[Int]>([])
        let pending = Pending<Int>(
            discard: { made in discarded.withLock { $0.append(made) } },
            make: {
                begun.open()
                await finish.wait()
                return 1
            }
        )
        async let problem = pending.setUp()
        await begun.wait()
        await pending.shutdown()
        finish.open()
        #expect(await problem != nil, "it cannot be used")
        #expect(discarded.withLock { $0 } == [1])
        #expect(pending.value == nil)
    }

    @Test("one that was made is shut down once, and is not made again")
    func shutDown() async {
        let discarded = Mutex(0)
        let made = Mutex(0)
        let pending = Pending<Int>(
            discard: { _ in discarded.withLock { $0 += 1 } },
            make: {
                made.withLock { made in
                    made += 1
                    return made
                }
            }
        )
        #expect(await pending.setUp() == nil)
        #expect(pending.value == 1)
        await pending.shutdown()
        await pending.shutdown()
        #expect(await pending.setUp() != nil)
        #expect(discarded.withLock { $0 } == 1)
        #expect(made.withLock { $0 } == 1)
    }
}
