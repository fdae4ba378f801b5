import Synchronization
import Testing

@testable import Daemon

struct AsyncLockTests {
    private final class Visitors: Sendable {
        private let inside = Mutex((now: 0, most: 0, visits: 0))

        var most: Int { inside.withLock { $0.most } }
        var visits: Int { inside.withLock { $0.visits } }

        func visit() async {
            inside.withLock { inside in
                inside.now += 1
                inside.visits += 1
                inside.most = max(inside.most, inside.now)
            }
            for _ in 0..<20 { await Task.yield() }
            inside.withLock { $0.now -= 1 }
        }
    }

    @Test func `nobody is let in before everybody else has left`() async {
        let (turns, visitors) = (AsyncLock(), Visitors())
        await withTaskGroup { group in
            for _ in 0..<50 {
                group.addTask {
                    await turns.enter()
                    await visitors.visit()
                    turns.leave()
                }
            }
        }
        #expect(visitors.most == 1)
        #expect(visitors.visits == 50)
    }
}
