import Testing

@testable import ControlServer

extension ControlSuite {
    @Suite(.timeLimit(.minutes(5))) struct ConnectionEndTests {
        @Test func `a request that waits no more leaves nothing behind`() async {
            let end = ConnectionEnd()
            for _ in 0..<100 {
                await withTaskGroup(of: Void.self) { group in
                    group.addTask { await end.wait() }
                    group.cancelAll()
                }
            }
            #expect(end.waiterCount == 0)
        }

        @Test func `the end wakes who waits, and who comes later`() async {
            let end = ConnectionEnd()
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<3 { group.addTask { await end.wait() } }
                end.come()
            }
            await end.wait()
            #expect(end.waiterCount == 0)
        }
    }
}
