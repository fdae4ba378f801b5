import AsyncHTTPClient
import FoundationEssentials
import Lifecycle
package import NIOHTTP1
import Settings

/// One address under a base URL, parsed once; a call can change neither its host nor its method.
package struct RemoteEndpoint: Sendable {
    /// Stands in a path for a value that each call brings.
    static let placeholder = "{}"

    let method: HTTPMethod
    /// What every call copies; its URL is the one of a call without path values and query.
    let prepared: HTTPClient.Request
    /// The text of the URL around the placeholders.
    let pieces: [String]

    /// The address, for what has to name it (the audience of a client assertion).
    package var url: String { pieces.joined(separator: Self.placeholder) }

    package var host: String { prepared.host }

    /// An endpoint that is given as a whole; throws `malformedBaseURL` or `plainHTTP`.
    package init(
        whole url: String,
        method: HTTPMethod,
        _ settings: RemoteSettings
    ) throws(SetupError) {
        let base = try RemoteBaseURL(url, settings)
        // A slash at the end of a path is part of it (RFC 3986 §6.2.4).
        let slash = url.hasSuffix("/") && base.text + "/" == url ? "/" : ""
        try self.init(base, path: slash, method: method)
    }

    /// The path is empty or starts with a slash; each call fills its placeholders.
    ///
    /// More headers come beside the `User-Agent` and `Accept` of every call, or instead of them.
    ///
    /// - Throws: ``SetupError`` of kind `malformedBaseURL` when the result is not a URL.
    package init(
        _ base: RemoteBaseURL,
        path: String,
        method: HTTPMethod,
        headers more: [(String, String)] = []
    ) throws(SetupError) {
        self.method = method
        pieces = (base.text + path)
            .split(separator: Self.placeholder, omittingEmptySubsequences: false).map(String.init)
        var headers = HTTPHeaders([("User-Agent", "expunged"), ("Accept", "application/json")])
        for (name, value) in more { headers.replaceOrAdd(name: name, value: value) }
        do {
            prepared = try HTTPClient.Request(
                url: pieces.joined(separator: "x"),
                method: method,
                headers: headers
            )
        } catch {
            throw SetupError(kind: .malformedBaseURL, owner: base.owner)
        }
    }
}

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

    /// Reads an absolute URL, whose path is kept; throws `malformedBaseURL` or `plainHTTP`.
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
