import Encoding
import HTTP
import Lifecycle
import NIOHTTP1

/// Calls of one store of Google's, below a path that does not change.
struct GoogleStore: Sendable {
    /// One call; the path begins with a slash and is percent-encoded.
    struct Call {
        var method = HTTPMethod.GET
        let path: String
        var query: [(name: String, value: String)] = []
        var body: JSONBody?
        /// Gets the body of a success; a table reads it as an empty one.
        var stream: BodyStream?
    }

    private let client: GoogleClient
    private let endpoints: [String: RemoteEndpoint]

    /// - Throws: ``HTTP/SetupError`` for a base URL that tokens must not go to.
    init(
        baseURL: String,
        path: String,
        client: GoogleClient,
        settings: RemoteSettings
    ) throws(SetupError) {
        self.client = client
        let base = try RemoteBaseURL(baseURL, settings)
        var endpoints: [String: RemoteEndpoint] = [:]
        for method in [HTTPMethod.GET, .POST, .PATCH, .DELETE] {
            endpoints[method.rawValue] = try RemoteEndpoint(base, path: path, method: method)
        }
        self.endpoints = endpoints
    }

    /// Makes a call.
    ///
    /// - Returns: What the table made of it: honoured, refused or unclear.
    /// - Throws: ``GoogleFailure`` for a failure.
    func send(_ call: Call, _ table: ReplyTable) async throws(GoogleFailure) -> ReplyReading {
        guard let endpoint = endpoints[call.method.rawValue] else {
            throw GoogleFailure(.unusable)
        }
        let query = call.query.map { "\($0.name)=\(Self.encoded($0.value))" }
        var request = RemoteRequest(
            endpoint,
            encodedSuffix: call.path + (query.isEmpty ? "" : "?" + query.joined(separator: "&")),
            call.body.map { .json($0) } ?? .none
        )
        request.stream = call.stream
        let reading = await client.call(request, table)
        if case .failure(let failure) = reading.meaning { throw GoogleFailure(failure) }
        return reading
    }

    /// One segment of a path, or the value of a query.
    static func encoded(_ text: String) -> String {
        var bytes: [UInt8] = []
        PercentEncoding.append(text.utf8, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }
}
