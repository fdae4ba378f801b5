import Control
import ControlClient
import Lifecycle
import Synchronization
import Testing

extension ControlSuite {
    @Suite struct ReplayWaitTests {
        private static func replay(_ state: ReplayState, id: String? = nil) -> WireReplay {
            var replay = WireReplay(state: state)
            replay.id = id
            return replay
        }

        private static var order: ReplayTerms {
            var order = Samples.replayOrder
            order.id = "ours"
            return order
        }

        private static var limits: ClientLimits {
            var limits = ClientLimits.forTests
            limits.replayPause = .zero
            limits.replayStartsMax = 3
            return limits
        }

        /// Waits for our replay; answers its end, and how often it was begun again.
        private static func wait(
            at socketPath: String
        ) async throws -> (last: WireReplay, restarts: Int) {
            try await ControlClient.with(socketPath: socketPath, limits: limits) { client in
                let restarts = Mutex(0)
                let last = try await client.replayToEnd(order) { restarts.withLock { $0 += 1 } }
                return (last, restarts.withLock { $0 })
            }
        }

        @Test func `a replay is begun again after a restart of the daemon`() async throws {
            try await TestServer.inDirectory { directory in
                let (asked, signal) = AsyncStream.makeStream(of: Void.self)
                let (finished, finish) = AsyncStream.makeStream(of: Void.self)
                let first = FakeBackend(
                    expecting: [.startReplay, .showReplay],
                    onReplay: { order in
                        if order == nil { signal.yield() }
                        return Self.replay(.running, id: "ours")
                    }
                )
                async let ended = {
                    defer { finish.finish() }
                    return try await Self.wait(at: directory + "/control.sock")
                }()
                try await TestServer.run(first, in: directory) { _ in
                    for await _ in asked { break }
                }
                let known = Mutex<String?>(nil)
                let second = FakeBackend(
                    expecting: [.startReplay, .showReplay],
                    onReplay: { order in
                        guard let order else {
                            let id = known.withLock(\.self)
                            return Self.replay(id == nil ? .idle : .finished, id: id)
                        }
                        known.withLock { $0 = order.id }
                        return Self.replay(.running, id: order.id)
                    }
                )
                try await TestServer.run(second, in: directory) { _ in
                    for await _ in finished {}
                }
                let (last, restarts) = try await ended
                #expect(last == Self.replay(.finished, id: "ours"))
                #expect(restarts == 1)
            }
        }

        @Test("the end of another's replay is not the end of ours", arguments: ["theirs", nil])
        func another(_ id: String?) async throws {
            let starts = Mutex(0)
            let backend = FakeBackend(
                expecting: [.startReplay, .showReplay],
                onReplay: { order in
                    guard order == nil else {
                        starts.withLock { $0 += 1 }
                        return Self.replay(.running, id: "ours")
                    }
                    let isFirst = starts.withLock { $0 == 1 }
                    return Self.replay(isFirst ? .finished : .incomplete, id: isFirst ? id : "ours")
                }
            )
            try await TestServer.run(backend) { server in
                let (last, restarts) = try await Self.wait(at: server.controlPath)
                #expect(last.state == .known(.incomplete))
                #expect(restarts == 1)
            }
        }

        @Test func `a daemon that never comes to the end is given up`() async throws {
            let backend = FakeBackend(
                expecting: [.startReplay, .showReplay],
                onReplay: { Self.replay($0 == nil ? .idle : .running, id: $0?.id) }
            )
            try await TestServer.run(backend) { server in
                let error = await #expect(throws: ControlClientError.self) {
                    try await Self.wait(at: server.controlPath)
                }
                #expect(error?.kind == .interrupted)
            }
            #expect(backend.calls.count { $0.operation == .startReplay } == 3)
        }
    }
}
