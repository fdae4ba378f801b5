/// The few parts of an http or https URL that a configuration may have (RFC 3986 §3).
///
/// A lenient parser would accept user names, spaces and fragments.
package struct EndpointURL: Hashable, Sendable {
    package let isEncrypted: Bool
    /// As written; an IPv6 address without its brackets.
    package let host: String
    package let port: Int?
    /// Empty or beginning with a slash; a lone slash is read as empty.
    package let path: String

    package init?(_ text: String) {
        let rest: Substring
        if text.hasPrefix("https://") {
            isEncrypted = true
            rest = text.dropFirst(8)
        } else if text.hasPrefix("http://") {
            isEncrypted = false
            rest = text.dropFirst(7)
        } else {
            return nil
        }
        guard text.utf8.count <= 2048, text.utf8.allSatisfy(Self.isAllowed) else { return nil }
        let slash = rest.firstIndex(of: "/") ?? rest.endIndex
        let written = String(rest[slash...])
        path = written == "/" ? "" : written
        guard let (host, port) = Self.split(authority: rest[..<slash]) else { return nil }
        (self.host, self.port) = (host, port)
    }

    package var isLoopback: Bool { Self.isLoopback(host) }

    /// Literal loopback addresses (RFC 1122 §3.2.1.3, RFC 4291 §2.5.3) and `localhost` (RFC 6761
    /// §6.3).
    package static func isLoopback(_ host: String) -> Bool {
        if host == "localhost" || host == "::1" { return true }
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
    }

    private static func split(authority: Substring) -> (String, Int?)? {
        var host = authority
        var port: Int?
        if authority.first == "[" {
            guard let close = authority.firstIndex(of: "]") else { return nil }
            host = authority[authority.index(after: authority.startIndex)..<close]
            guard host.contains(":"), host.allSatisfy({ $0.isHexDigit || $0 == ":" || $0 == "." })
            else { return nil }
            let after = authority[authority.index(after: close)...]
            guard after.isEmpty || after.first == ":" else { return nil }
            port = after.isEmpty ? nil : Self.port(after.dropFirst())
            guard after.isEmpty || port != nil else { return nil }
        } else {
            if let colon = authority.firstIndex(of: ":") {
                host = authority[..<colon]
                port = Self.port(authority[authority.index(after: colon)...])
                guard port != nil else { return nil }
            }
            guard isHostName(host) else { return nil }
        }
        return (String(host), port)
    }

    private static func port(_ text: Substring) -> Int? {
        guard let number = UInt16(text), number > 0, text.first != "+" else { return nil }
        return Int(number)
    }

    /// RFC 1123 §2.1.
    private static func isHostName(_ text: Substring) -> Bool {
        guard (1...253).contains(text.utf8.count) else { return false }
        return text.split(separator: ".", omittingEmptySubsequences: false).allSatisfy { label in
            (1...63).contains(label.utf8.count) && label.first != "-" && label.last != "-"
                && label.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-") }
        }
    }

    /// Unreserved characters, delimiters of a path, and what frames host and port.
    private static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5a, 0x61...0x7a: true
        default: "-._~:/[]%!$&'()*+,;=".utf8.contains(byte)
        }
    }
}
