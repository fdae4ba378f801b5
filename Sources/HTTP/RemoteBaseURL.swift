import FoundationEssentials
import Lifecycle
import Settings

/// A base URL that tokens may be sent to: https, or plain http to loopback where that is allowed.
///
/// Blanks, control characters, backslashes and a user are refused, so that no two readers of the
/// text disagree on its host.
package struct RemoteBaseURL: Sendable, Hashable {
    /// Without a trailing slash.
    package let text: String
    let owner: RemoteOwner
    /// In lower case; an IPv6 address without its brackets.
    package let host: String
    /// `host`, with `:port` unless it is the scheme's own.
    package let authority: String

    /// Reads an absolute URL, whose path is kept as a prefix.
    ///
    /// - Throws: ``SetupError`` of kind `malformedBaseURL` or `plainHTTP`.
    package init(_ text: String, _ settings: RemoteSettings) throws(SetupError) {
        owner = settings.owner
        guard text.utf8.allSatisfy({ (0x21...0x7e).contains($0) && $0 != UInt8(ascii: "\\") }),
            let url = URL(string: text), let host = url.host, !host.isEmpty,
            url.user == nil, url.password == nil, url.query == nil, url.fragment == nil
        else { throw SetupError(kind: .malformedBaseURL, owner: owner) }
        let bare = host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host
        self.host = bare.lowercased()
        let isStandard = url.port == nil || url.port == (url.scheme == "http" ? 80 : 443)
        authority = self.host + (isStandard ? "" : url.port.map { ":\($0)" } ?? "")
        switch url.scheme?.lowercased() {
        case "https": break
        case "http":
            guard settings.allowsPlainLoopback, EndpointURL.isLoopback(self.host) else {
                throw SetupError(kind: .plainHTTP, owner: owner)
            }
        default: throw SetupError(kind: .malformedBaseURL, owner: owner)
        }
        var text = text
        while text.hasSuffix("/") { text.removeLast() }
        self.text = text
    }
}
