import Engine
import Lifecycle
import NIOCore
import NIOPosix

/// Hands one mail to a server on this machine: plain, without a password, as local programs do.
struct SMTPClient: Sendable {
    private let host: String
    private let port: Int
    private let timeout: Duration
    private let group: any EventLoopGroup

    init(host: String, port: Int, timeout: Duration, on group: any EventLoopGroup) {
        (self.host, self.port, self.timeout, self.group) = (host, port, timeout, group)
    }

    func send(_ mail: MailMessage) async -> SendResult {
        await BootClock.within(timeout, late: SendResult(failure: .lost)) { await talk(mail) }
    }

    /// Connects and says nothing.
    func isReachable() async -> Bool {
        do {
            let channel = try await ClientBootstrap(group: group).connectTimeout(.seconds(5))
                .connect(host: host, port: port).get()
            try await channel.close().get()
            return true
        } catch {
            return false
        }
    }

    private func talk(_ mail: MailMessage) async -> SendResult {
        let channel: NIOAsyncChannel<ByteBuffer, ByteBuffer>
        do {
            channel = try await ClientBootstrap(group: group)
                .connectTimeout(.seconds(5))
                .connect(host: host, port: port) { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try NIOAsyncChannel<ByteBuffer, ByteBuffer>(
                            wrappingChannelSynchronously: channel
                        )
                    }
                }
        } catch {
            return SendResult(failure: .unreachable)
        }
        do {
            return try await channel.executeThenClose { inbound, outbound in
                var dialog = SMTPDialog(mail)
                for try await buffer in inbound {
                    for move in dialog.receive(buffer.readableBytesView) {
                        switch move {
                        case .send(let bytes): try await outbound.write(ByteBuffer(bytes: bytes))
                        case .end(let result): return result
                        }
                    }
                }
                return SendResult(failure: .lost)
            }
        } catch {
            return SendResult(failure: .lost)
        }
    }
}
