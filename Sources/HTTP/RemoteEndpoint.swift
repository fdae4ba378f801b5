import AsyncHTTPClient
import Lifecycle
package import NIOHTTP1

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

    /// An endpoint that is given as a whole.
    ///
    /// - Throws: ``SetupError`` of kind `malformedBaseURL` or `plainHTTP`.
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
