import Control
import Encoding
import Lifecycle
import NIOCore

/// One complete answer.
struct ServerAnswer: Sendable {
    var status: Int
    var contentType: String?
    var fields: [(name: String, value: String)] = []
    var body: [UInt8] = []
    /// Whether the body's length is known; not that of a stream.
    var hasLength = true
    /// Ends once the peer has read the answer, or the connection is gone.
    var turn: AnswerTurns.Turn?

    init(status: Int, _ contentType: String? = nil, _ body: [UInt8] = []) {
        (self.status, self.contentType, self.body) = (status, contentType, body)
    }

    /// The problem as `application/problem+json` (RFC 9457).
    init(_ problem: ControlProblem) {
        var writer = JSONWriter()
        WireProblem(problem).write(to: &writer)
        self.init(status: problem.code.status, "application/problem+json", writer.bytes)
        if let delay = problem.retryAfter {
            fields.append(("retry-after", "\(max(1, delay.components.seconds))"))
        }
    }

    /// Writes it as HTTP/1.1 (RFC 9112 §4); no value here comes from a peer.
    ///
    /// Without its body it answers a HEAD.
    func write(to buffer: inout ByteBuffer, keepsAlive: Bool, hasBody: Bool, at now: WallTime) {
        buffer.writeString("HTTP/1.1 \(status) \(Self.reason(status))\r\n")
        // An IMF-fixdate (RFC 9110 §5.6.7); 1970 began with a Thursday.
        let weekday = Self.weekdays[Int(now.unixMilliseconds / 86_400_000 % 7)]
        buffer.writeString("date: \(weekday), \(now.internetDate) GMT\r\n")
        if let contentType { buffer.writeString("content-type: \(contentType)\r\n") }
        if status != 204, hasLength { buffer.writeString("content-length: \(body.count)\r\n") }
        buffer.writeStaticString("cache-control: no-store\r\n")
        for field in fields { buffer.writeString("\(field.name): \(field.value)\r\n") }
        if !keepsAlive { buffer.writeStaticString("connection: close\r\n") }
        buffer.writeStaticString("\r\n")
        if hasBody { buffer.writeBytes(body) }
    }

    /// What a stream begins with, which ends with the connection.
    static var streamHead: ServerAnswer {
        var answer = ServerAnswer(status: 200, "text/event-stream")
        answer.hasLength = false
        return answer
    }

    private static let weekdays = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]

    private static func reason(_ status: Int) -> String {
        switch status {
        case 200: "OK"
        case 202: "Accepted"
        case 204: "No Content"
        case 400: "Bad Request"
        case 403: "Forbidden"
        case 404: "Not Found"
        case 405: "Method Not Allowed"
        case 408: "Request Timeout"
        case 409: "Conflict"
        case 413: "Content Too Large"
        case 415: "Unsupported Media Type"
        case 422: "Unprocessable Content"
        case 431: "Request Header Fields Too Large"
        case 500: "Internal Server Error"
        default: "Service Unavailable"
        }
    }
}
