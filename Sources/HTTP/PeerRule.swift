import Glibc
import NIOCore
import Synchronization

/// Which addresses a connection may have; asked once it is there and before anything is sent, so
/// that no name can point elsewhere in between.
final class PeerRule: Sendable {
    /// The address is not permitted.
    struct Refused: Error {}

    private let allowsPrivate: Bool
    private let refused = Mutex(false)

    init(allowsPrivate: Bool) { self.allowsPrivate = allowsPrivate }

    var didRefuse: Bool { refused.withLock { $0 } }

    /// Remembers a refusal.
    func permits(_ address: SocketAddress?) -> Bool {
        let isPermitted = wouldPermit(address)
        if !isPermitted { refused.withLock { $0 = true } }
        return isPermitted
    }

    func wouldPermit(_ address: SocketAddress?) -> Bool {
        allowsPrivate || (address.flatMap(Self.bytes).map(Self.isPublic) ?? false)
    }

    /// The address in network order; a zone at its end (RFC 4007) makes it none.
    private static func bytes(_ address: SocketAddress) -> [UInt8]? {
        guard let text = address.ipAddress else { return nil }
        let (family, count) = text.contains(":") ? (AF_INET6, 16) : (AF_INET, 4)
        var bytes = [UInt8](repeating: 0, count: count)
        return unsafe inet_pton(family, text, &bytes) == 1 ? bytes : nil
    }

    /// Whether an address is none of the special ones of RFC 6890, in network order.
    static func isPublic(_ bytes: [UInt8]) -> Bool {
        if bytes.count == 4 {
            switch (bytes[0], bytes[1]) {
            case (0, _), (10, _), (127, _), (169, 254), (192, 168), (224..., _): return false
            case (100, 64...127), (172, 16...31), (198, 18...19): return false
            case (192, 0): return bytes[2] != 0 && bytes[2] != 2
            case (198, 51): return bytes[2] != 100
            case (203, 0): return bytes[2] != 113
            default: return true
            }
        }
        // An IPv4 address in the form of IPv6 (RFC 4291 §2.5.5.2), or behind NAT64 (RFC 6052).
        let mapped: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff]
        let translated: [UInt8] = [0, 0x64, 0xff, 0x9b, 0, 0, 0, 0, 0, 0, 0, 0]
        if bytes.starts(with: mapped) || bytes.starts(with: translated) {
            return isPublic(Array(bytes.suffix(4)))
        }
        // Global unicast alone (RFC 4291 §2.4), without documentation (RFC 3849) and 6to4.
        return bytes[0] & 0xe0 == 0x20 && !bytes.starts(with: [0x20, 0x01, 0x0d, 0xb8])
            && !bytes.starts(with: [0x20, 0x02])
    }
}
