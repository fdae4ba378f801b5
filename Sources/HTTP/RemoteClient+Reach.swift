import AsyncHTTPClient
import Glibc
import NIOCore
import NIOPosix

extension RemoteClient {
    /// Connects to the host of an endpoint and sends nothing.
    ///
    /// - Returns: Why no connection comes about, with the system's reason; `nil` when one does.
    package func connectionFailure(_ endpoint: RemoteEndpoint) async -> String? {
        let host = endpoint.prepared.host
        let name = host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host
        do {
            let channel = try await ClientBootstrap(group: loop).connectTimeout(timeoutConnect)
                .connect(host: name, port: endpoint.prepared.port).get()
            let isPermitted = peers.permits(channel.remoteAddress)
            try await channel.close().get()
            return isPermitted ? nil : "host '\(name)' has an address that is not public"
        } catch {
            return "host '\(name)': \(Self.reason(error))"
        }
    }

    /// Why a connection failed; nothing of it comes from the peer.
    private static func reason(_ error: any Error) -> String {
        switch error {
        case let failure as NIOConnectionError:
            if let first = failure.connectionErrors.first { return reason(first.error) }
            return "the name cannot be resolved"
        case let failure as IOError:
            let text = unsafe strerror(failure.errnoCode).map { unsafe String(cString: $0) }
            return text?.lowercased() ?? "error \(failure.errnoCode)"
        case ChannelError.connectTimeout: return "no connection in time"
        default: return "no connection"
        }
    }
}
