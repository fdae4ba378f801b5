import AsyncHTTPClient
import Encoding
package import Lifecycle
package import NIOCore
import NIOHTTP1

/// One call that is about to be made: an endpoint and everything that goes there.
package struct RemoteRequest: Sendable, Redacted {
    /// What goes behind the head.
    package enum Body: Sendable {
        case none
        case form(FormBody)
        case json(JSONBody)
        /// Bytes whose type is among the headers.
        case raw([UInt8])
    }

    package let endpoint: RemoteEndpoint
    package var body = Body.none
    package var authorization: Authorization?
    /// Only where a vendor documents no other place: a query is what servers log.
    package var query: FormBody?
    /// Beside the endpoint's own; nothing in them comes from outside.
    package var headers: [(name: String, value: String)] = []
    /// Gets the body of an answer with status 200, and the reply has none; `nil` to keep it.
    package var stream: BodyStream?
    private let values: [Secret]
    private var encodedSuffix: String?

    /// A call of an endpoint without placeholders.
    package init(_ endpoint: RemoteEndpoint, _ body: Body = .none) {
        precondition(endpoint.pieces.count == 1, "the endpoint has placeholders")
        (self.endpoint, self.body) = (endpoint, body)
        values = []
    }

    /// A call below an endpoint without placeholders.
    ///
    /// The suffix begins with a slash; the caller has percent-encoded and signed path and query.
    package init(_ endpoint: RemoteEndpoint, encodedSuffix: String, _ body: Body = .none) {
        precondition(encodedSuffix.hasPrefix("/"), "a suffix must not change the host")
        self.init(endpoint, body)
        self.encodedSuffix = encodedSuffix
    }

    /// A call of an endpoint with one placeholder for each value, which becomes one path segment.
    ///
    /// Returns `nil` for a value that would change the path: an empty one, `.` and `..` (RFC 3986
    /// §5.2.4).
    package init?(_ endpoint: RemoteEndpoint, filling values: [Secret]) {
        precondition(endpoint.pieces.count == values.count + 1, "one value per placeholder")
        let dots: [[UInt8]] = [[], Array(".".utf8), Array("..".utf8)]
        guard values.allSatisfy({ $0.withBytes { !dots.contains($0) } }) else { return nil }
        (self.endpoint, self.values) = (endpoint, values)
    }

    /// The request for the HTTP client; `nil` when it is none, which no encoded value brings about.
    func prepared(for call: RemoteCall) -> HTTPClient.Request? {
        guard var request = filled() else { return nil }
        switch body {
        case .none: break
        case .form(let form):
            let type = "application/x-www-form-urlencoded"
            request.headers.replaceOrAdd(name: "Content-Type", value: type)
            request.body = call.body(form.bytes)
        case .json(let json):
            request.headers.replaceOrAdd(name: "Content-Type", value: "application/json")
            request.body = call.body(json.bytes)
        case .raw(let bytes): request.body = call.body(bytes)
        }
        for (name, value) in headers { request.headers.replaceOrAdd(name: name, value: value) }
        if let authorization {
            request.headers.replaceOrAdd(name: "Authorization", value: authorization.text)
        }
        return request
    }

    private func filled() -> HTTPClient.Request? {
        if values.isEmpty && query == nil && encodedSuffix == nil { return endpoint.prepared }
        var url = Array(endpoint.pieces[0].utf8)
        for (value, piece) in zip(values, endpoint.pieces.dropFirst()) {
            value.withBytes { PercentEncoding.append($0, to: &url) }
            url.append(contentsOf: piece.utf8)
        }
        if let encodedSuffix { url.append(contentsOf: encodedSuffix.utf8) }
        if let query {
            url.append(UInt8(ascii: "?"))
            url.append(contentsOf: query.bytes)
        }
        do {
            return try HTTPClient.Request(
                url: String(decoding: url, as: UTF8.self),
                method: endpoint.method,
                headers: endpoint.prepared.headers
            )
        } catch {
            return nil
        }
    }
}

extension RemoteRequest {
    /// Words of the protocols, which vendors use in their texts.
    private static let ownWords: Set<String> = [
        "authorization_code", "refresh_token", "access_token", "id_token", "client_credentials",
        "token", "Basic", "Bearer", "OAuth", "https", "http", "urn", "true", "false",
    ]

    var sentValues: [String] {
        var texts = values.map { $0.exposeText() }
        var forms = query.map { [$0] } ?? []
        switch body {
        case .none: break
        case .form(let form): forms.append(form)
        case .json(let json): texts.append(String(decoding: json.bytes, as: UTF8.self))
        case .raw(let bytes): texts.append(String(decoding: bytes, as: UTF8.self))
        }
        for field in forms.flatMap({ $0.bytes.split(separator: UInt8(ascii: "&")) }) {
            texts.append(Self.plain(field.drop { $0 != UInt8(ascii: "=") }.dropFirst()))
        }
        if let header = authorization?.text {
            texts.append(header)
            // Name and password (RFC 7617).
            if header.hasPrefix("Basic "), let pair = Base64.decode(header.utf8.dropFirst(6)) {
                texts.append(Self.plain(pair))
            }
        }
        return texts.flatMap { $0.split { " ,;:|=\"'{}".contains($0) } }.map(String.init)
            .filter { !Self.ownWords.contains($0) }
    }

    private static func plain(_ bytes: some Collection<UInt8>) -> String {
        PercentEncoding.decode(bytes) { _ in true } ?? String(decoding: bytes, as: UTF8.self)
    }
}

/// Takes the body of a success as it comes, where all of it at once would be too much.
package struct BodyStream: Sendable {
    /// Bytes of the body; a longer one ends the call.
    package let max: Int
    /// Gets the parts in order; nothing else of the client goes on meanwhile.
    package let take: @Sendable (ByteBufferView) -> Void

    package init(max: Int, take: @escaping @Sendable (ByteBufferView) -> Void) {
        (self.max, self.take) = (max, take)
    }
}
