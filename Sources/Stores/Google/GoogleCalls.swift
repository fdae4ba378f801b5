import Encoding
import HTTP
import Lifecycle
import NIOHTTP1

/// Calls of one store of Google's, below a path that does not change.
struct GoogleCalls: Sendable {
    /// One call; the path begins with a slash and is percent-encoded.
    struct Call {
        var method = HTTPMethod.GET
        let path: String
        var query: [(name: String, value: String)] = []
        var body: JSONValue?
        /// Gets the body of a success; a table reads it as an empty one.
        var stream: BodyStream?
    }

    private let client: GoogleClient
    private let endpoints: [String: RemoteEndpoint]

    /// - Throws: ``HTTP/SetupError`` for a base URL that tokens must not go to.
    init(
        baseURL: String,
        path: String,
        _ session: GoogleSession
    ) throws(SetupError) {
        client = session.client
        let base = try RemoteBaseURL(baseURL, session.settings)
        var endpoints: [String: RemoteEndpoint] = [:]
        for method in [HTTPMethod.GET, .POST, .PATCH, .DELETE] {
            endpoints[method.rawValue] = try RemoteEndpoint(base, path: path, method: method)
        }
        self.endpoints = endpoints
    }

    /// Makes a call.
    ///
    /// - Returns: What the table made of it: honoured, refused or unclear.
    func send(_ call: Call, _ table: ReplyTable) async throws(CallFailure) -> ReplyReading {
        guard let endpoint = endpoints[call.method.rawValue] else { throw CallFailure(.unusable) }
        let query = call.query.map { "\($0.name)=\(PercentEncoding.encode($0.value))" }
        var request = RemoteRequest(
            endpoint,
            encodedSuffix: call.path + (query.isEmpty ? "" : "?" + query.joined(separator: "&")),
            call.body.map { .raw(Array($0.compactText.utf8)) } ?? .none
        )
        if call.body != nil { request.headers = [("Content-Type", "application/json")] }
        request.stream = call.stream
        let reading = await client.call(request, table)
        if case .failure(let failure) = reading.meaning {
            throw CallFailure(failure, isNotFound: reading.isNotFound)
        }
        return reading
    }

    /// Makes a call that has to be honoured.
    func object(_ call: Call, _ table: ReplyTable) async throws(CallFailure) -> JSONValue {
        let reading = try await send(call, table)
        guard reading.meaning == .honoured, let json = reading.json else {
            throw CallFailure(.unusable)
        }
        return json
    }

    /// What leads to the next page of a listing.
    static func token(_ answer: JSONValue) -> String? {
        answer["nextPageToken"]?.string.flatMap { $0.isEmpty ? nil : $0 }
    }
}
