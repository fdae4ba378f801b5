import Control
import Glibc
import Subprocess
import Testing

@testable import ControlServer

extension ControlSuite {
    @Suite struct GonePeerTests {
        /// Connects, asks, and ends.
        private static let program = """
            import socket, sys
            peer = socket.socket(socket.AF_UNIX)
            peer.connect(sys.argv[1])
            peer.sendall(sys.argv[2].encode())
            """
        private static let body = "{\"kind\":\"delete_account\",\"user_id\":\"alice\"}"
        private static let text = """
            POST /v1/requests HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n\
            Content-Length: \(body.utf8.count)\r\n\r\n\(body)
            """

        @Test(.timeLimit(.minutes(5)), arguments: [ControlRole.submit, .operator])
        func `a peer that is gone before it is accepted may be anybody`(
            _ role: ControlRole
        ) async throws {
            let (calls, call) = AsyncStream.makeStream(of: Void.self)
            let backend = FakeBackend(expecting: [.submitRequest], onSubmit: { call.finish() })
            let early = { (directory: String) in
                let path = TestServer.path(role, in: directory)
                let peer = try await Subprocess.run(
                    .name("python3"),
                    arguments: ["-c", Self.program, path, Self.text],
                    output: .discarded,
                    error: .string(limit: 65_536)
                )
                #expect(peer.terminationStatus.isSuccess, "\(peer.standardError)")
            }
            try await TestServer.run(backend, early: early) { _ in
                for await _ in calls {}
            }
            #expect(backend.calls.map(\.caller.role) == [role])
            #expect(backend.calls.allSatisfy { $0.caller.isHidden })
            #expect(backend.calls.allSatisfy { $0.caller.operatorUID == nil })
        }

        @Test func `a number that the kernel has no process of is not looked up again`() {
            // This process stands for another one that got the number.
            #expect(PeerLogin(pid: getpid(), handle: -1, error: EINVAL) == .hidden)
            #expect(PeerLogin(pid: getpid(), handle: -1, error: ENOPROTOOPT) != .hidden)
        }
    }
}
