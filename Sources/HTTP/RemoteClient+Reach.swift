import AsyncHTTPClient
import Encoding
import Glibc
import NIOCore
import NIOPosix
import NIOSSL

extension RemoteClient {
    /// Connects to the host of an endpoint, over TLS as a call does, and sends nothing.
    ///
    /// - Returns: Why no connection comes about, with the system's reason; `nil` when one does.
    package func connectionFailure(_ endpoint: RemoteEndpoint) async -> String? {
        let host = endpoint.prepared.host
        let name = host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host
        let channel: any Channel
        do {
            channel = try await ClientBootstrap(group: loop).connectTimeout(timeoutConnect)
                .connect(host: name, port: endpoint.prepared.port).get()
        } catch let error as NIOConnectionError
            where error.connectionErrors.contains(where: { !peers.wouldPermit($0.target) })
        {
            return Self.privateAddress(name)
        } catch {
            return "host '\(name)': \(Self.reason(error, endpoint.prepared.port))"
        }
        let failure = await failure(on: channel, to: name, isEncrypted: endpoint.prepared.useTLS)
        do {
            try await channel.close().get()
        } catch {
            // The peer closed it, as after a failed handshake; what counts is known.
            return failure
        }
        return failure
    }

    private func failure(
        on channel: any Channel,
        to name: String,
        isEncrypted: Bool
    ) async -> String? {
        guard peers.wouldPermit(channel.remoteAddress) else { return Self.privateAddress(name) }
        guard isEncrypted else { return nil }
        do {
            try await handshake(on: channel, with: name)
            return nil
        } catch {
            return "host '\(name)': \(Self.reasonOfTLS(error))"
        }
    }

    private func handshake(on channel: any Channel, with name: String) async throws {
        let context = try NIOSSLContext(configuration: tls)
        let outcome = channel.eventLoop.makePromise(of: Void.self)
        let server = Self.isAddress(name) ? nil : name
        let deadline = channel.eventLoop.scheduleTask(in: timeoutConnect) { [timeoutConnect] in
            outcome.fail(ChannelError.connectTimeout(timeoutConnect))
        }
        defer { deadline.cancel() }
        channel.eventLoop.makeSucceededVoidFuture().flatMapThrowing {
            let pipeline = channel.pipeline.syncOperations
            let handler = try NIOSSLClientHandler(context: context, serverHostname: server)
            try pipeline.addHandler(handler)
            try pipeline.addHandler(HandshakeFailure(outcome))
        }.flatMap {
            // Nothing, which is written when the handshake is over.
            channel.writeAndFlush(ByteBuffer())
        }.cascade(to: outcome)
        try await outcome.futureResult.get()
    }

    private static func privateAddress(_ name: String) -> String {
        "host '\(name)' has an address that is not public, and allow_private_addresses is not set"
    }

    private static func isAddress(_ name: String) -> Bool {
        var bytes = [UInt8](repeating: 0, count: 16)
        return [AF_INET, AF_INET6].contains { unsafe inet_pton($0, name, &bytes) == 1 }
    }

    /// Why a connection failed; nothing of it comes from the peer.
    private static func reason(_ error: any Error, _ port: Int) -> String {
        switch error {
        case let failure as NIOConnectionError:
            if let first = failure.connectionErrors.first { return reason(first.error, port) }
            return "the name cannot be resolved"
        case let failure as IOError:
            return "\(ErrorNumber(failure.errnoCode)) at port \(port)"
        case ChannelError.connectTimeout: return "no connection in time at port \(port)"
        default: return "no connection"
        }
    }

    /// Why a handshake failed, and what mends it; nothing of it comes from the peer.
    private static func reasonOfTLS(_ error: any Error) -> String {
        switch error {
        case ChannelError.connectTimeout: "it takes connections, and no TLS handshake ends in time"
        case let error as NIOSSLExtraError where error == .failedToValidateHostname:
            "its certificate is for another name; use a name of the certificate in the URL"
        // The name of a reason, which is the library's own.
        case NIOSSLError.handshakeFailed(let reason)
        where "\(reason)".contains("CERTIFICATE_VERIFY_FAILED"):
            "its certificate is not trusted: it has expired, or its authority is unknown here; name"
                + " the file with that authority's certificate in ca_file"
        default: "no TLS handshake; it must speak TLS 1.2 or newer there"
        }
    }
}

/// Takes the reason of a failed handshake, which the connection forgets when it closes.
private final class HandshakeFailure: ChannelInboundHandler {
    typealias InboundIn = NIOAny

    private let outcome: EventLoopPromise<Void>

    init(_ outcome: EventLoopPromise<Void>) { self.outcome = outcome }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        outcome.fail(error)
        context.close(promise: nil)
    }
}
