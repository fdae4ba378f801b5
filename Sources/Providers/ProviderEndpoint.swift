import AsyncHTTPClient
import FoundationEssentials
import Lifecycle
import NIOHTTP1

/// One address under a provider's base URL, parsed once; every call copies the prepared request.
struct ProviderEndpoint: Sendable {
    let request: HTTPClient.Request

    /// - Parameters:
    ///   - base: The validated base URL.
    ///   - path: Starts with a slash; appended to the path of `base`.
    ///   - method: POST endpoints take a form, GET endpoints nothing.
    /// - Throws: ``ProviderError`` of kind `malformedBaseURL` when the result is not a URL.
    init(_ base: ProviderBaseURL, path: String, method: HTTPMethod) throws(ProviderError) {
        var headers = HTTPHeaders([("User-Agent", "expunged"), ("Accept", "application/json")])
        if method == .POST {
            headers.add(name: "Content-Type", value: "application/x-www-form-urlencoded")
        }
        do {
            request = try HTTPClient.Request(
                url: base.text + path,
                method: method,
                headers: headers
            )
        } catch {
            throw ProviderError(kind: .malformedBaseURL, provider: base.provider)
        }
    }
}

/// A base URL that tokens may be sent to: https, or plain http to loopback where that is allowed.
struct ProviderBaseURL: Sendable {
    /// Without a trailing slash.
    let text: String
    let provider: String

    /// - Parameter settings: Where the URL and the permission come from.
    /// - Throws: ``ProviderError`` of kind `malformedBaseURL` or `plainHTTP`.
    init(_ settings: ProviderHTTPSettings) throws(ProviderError) {
        provider = settings.name.rawValue
        guard settings.baseURL.utf8.allSatisfy({ (0x21...0x7e).contains($0) }),
            let url = URL(string: settings.baseURL), let host = url.host, !host.isEmpty,
            url.user == nil, url.password == nil, url.query == nil, url.fragment == nil
        else { throw ProviderError(kind: .malformedBaseURL, provider: provider) }
        switch url.scheme?.lowercased() {
        case "https": break
        case "http":
            guard settings.allowsPlainLoopback, Self.isLoopback(host) else {
                throw ProviderError(kind: .plainHTTP, provider: provider)
            }
        default: throw ProviderError(kind: .malformedBaseURL, provider: provider)
        }
        var text = settings.baseURL
        while text.hasSuffix("/") { text.removeLast() }
        self.text = text
    }

    /// Literal loopback addresses (RFC 1122 §3.2.1.3, RFC 4291 §2.5.3) and `localhost` (RFC 6761
    /// §6.3).
    private static func isLoopback(_ host: String) -> Bool {
        if ["localhost", "::1", "[::1]"].contains(host.lowercased()) { return true }
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
    }
}
