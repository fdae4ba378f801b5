import AsyncHTTPClient
import Lifecycle
import NIOHTTP1

/// One address under a provider's base URL, parsed once; a call can change neither its host nor
/// its method.
struct ProviderEndpoint: Sendable {
    /// Stands in a path for a value that each call brings.
    static let placeholder = "{}"

    let method: HTTPMethod
    /// What every call copies; its URL is the one of a call without path values and query.
    let prepared: HTTPClient.Request
    /// The text of the URL around the placeholders.
    let pieces: [String]

    /// - Parameters:
    ///   - base: The validated base URL.
    ///   - path: Empty, or starts with a slash; appended to the path of `base`. Each `{}` is
    ///     filled by the call.
    ///   - method: How it is called.
    ///   - more: Headers beyond the `User-Agent` and `Accept` that every call has; one of these
    ///     names replaces them.
    /// - Throws: ``ProviderError`` of kind `malformedBaseURL` when the result is not a URL.
    init(
        _ base: ProviderBaseURL,
        path: String,
        method: HTTPMethod,
        headers more: [(String, String)] = []
    ) throws(ProviderError) {
        self.method = method
        pieces = (base.text + path).split(
            separator: Self.placeholder,
            omittingEmptySubsequences: false
        ).map(String.init)
        var headers = HTTPHeaders([("User-Agent", "expunged"), ("Accept", "application/json")])
        for (name, value) in more { headers.replaceOrAdd(name: name, value: value) }
        do {
            prepared = try HTTPClient.Request(
                url: pieces.joined(separator: "x"),
                method: method,
                headers: headers
            )
        } catch {
            throw ProviderError(kind: .malformedBaseURL, provider: base.provider)
        }
    }
}
