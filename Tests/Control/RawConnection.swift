import Glibc
import NIOPosix

/// A plain blocking socket that sends exactly the bytes it is told, off the cooperative pool.
struct RawConnection: Sendable {
    let descriptor: Int32

    /// A read that takes this long fails the test.
    private static let timeoutSeconds = 120

    /// Connects, runs `body`, closes.
    static func with<R: Sendable>(
        _ path: String,
        _ body: (RawConnection) async throws -> R
    ) async throws -> R {
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var timeout = timeval(tv_sec: timeoutSeconds, tv_usec: 0)
        unsafe setsockopt(
            descriptor,
            SOL_SOCKET,
            SO_RCVTIMEO,
            &timeout,
            socklen_t(MemoryLayout<timeval>.size)
        )
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { buffer in
            unsafe buffer.copyBytes(from: Array(path.utf8))
        }
        let result = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                unsafe connect(descriptor, pointer, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard result == 0 else { throw TestFailure("cannot connect: \(errno)") }
        return try await body(RawConnection(descriptor: descriptor))
    }

    /// Sends text; a peer that is gone is no failure here.
    func send(_ text: String) async throws {
        try await NIOThreadPool.singleton.runIfActive { [descriptor] in
            var rest = Array(text.utf8)[...]
            while !rest.isEmpty {
                let count = unsafe rest.withUnsafeBytes { buffer in
                    unsafe Glibc.send(
                        descriptor,
                        buffer.baseAddress,
                        buffer.count,
                        Int32(MSG_NOSIGNAL)
                    )
                }
                guard count > 0 || errno == EINTR else { return }
                rest = rest.dropFirst(max(0, count))
            }
        }
    }

    /// Reads until the peer closes.
    ///
    /// - Returns: What came; `nil` when it did not close in time.
    func readToEnd() async throws -> String? {
        try await read { _ in false }
    }

    /// Reads until the text contains `end`.
    func read(until end: String) async throws -> String {
        try await read { $0.contains(end) } ?? ""
    }

    private func read(_ isDone: @escaping @Sendable (String) -> Bool) async throws -> String? {
        try await NIOThreadPool.singleton.runIfActive { [descriptor] in
            var bytes: [UInt8] = []
            var chunk = [UInt8](repeating: 0, count: 65_536)
            while true {
                let count = unsafe recv(descriptor, &chunk, chunk.count, 0)
                // With a timeout it is not restarted after a stop, either (signal(7)).
                if count < 0, errno == EINTR { continue }
                if count == 0 || (count < 0 && errno == ECONNRESET) { break }
                guard count > 0 else { return nil }
                bytes.append(contentsOf: chunk[..<count])
                if isDone(String(decoding: bytes, as: UTF8.self)) { break }
            }
            return String(decoding: bytes, as: UTF8.self)
        }
    }

    /// Sends one request and reads the whole answer; the connection is closed by the server.
    static func ask(
        _ path: String,
        _ method: String,
        _ target: String,
        body: String = "",
        fields: [String] = []
    ) async throws -> (status: Int, text: String) {
        try await with(path) { connection in
            let extra = fields.map { $0 + "\r\n" }.joined()
            try await connection.send(
                "\(method) \(target) HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\(extra)"
                    + (body.isEmpty ? "" : "Content-Length: \(body.utf8.count)\r\n") + "\r\n" + body
            )
            guard let text = try await connection.readToEnd() else { throw TestFailure("no end") }
            return (Int(text.dropFirst(9).prefix(3)) ?? 0, text)
        }
    }
}
