import Control
import Lifecycle
import NIOCore
import Synchronization

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
        let body = WireProblem(problem).jsonBytes
        self.init(status: problem.code.status, "application/problem+json", body)
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

/// Limits how many costly answers exist at a time on one socket, for each uid and for all: the uid
/// that asks for many waits, and not the others.
final class AnswerTurns: Sendable {
    /// The right to one answer, which ends with the last reference to it.
    final class Turn: Sendable {
        private let end: @Sendable () -> Void

        fileprivate init(_ end: @escaping @Sendable () -> Void) { self.end = end }

        deinit { end() }
    }

    private struct Waiter {
        let number: UInt64
        let uid: UInt32
        let sender: AsyncStream<Turn>.Continuation
    }

    private struct State {
        var countByUID: [UInt32: Int] = [:]
        /// In the order of their coming; one per connection at most.
        var waiters: [Waiter] = []
        var lastNumber: UInt64 = 0
    }

    private static let root: UInt32 = 0

    private let perUIDMax: Int
    private let max: Int
    private let state = Mutex(State())

    /// `max` counts the turns of all uids but root.
    init(perUIDMax: Int, max: Int) {
        (self.perUIDMax, self.max) = (perUIDMax, max)
    }

    /// Waits for a turn; `nil` once the task is cancelled.
    func wait(uid: UInt32) async -> Turn? {
        let (turns, sender) = AsyncStream.makeStream(of: Turn.self)
        let number = state.withLock { state -> UInt64? in
            guard !begin(uid, &state) else { return nil }
            state.lastNumber += 1
            state.waiters.append(Waiter(number: state.lastNumber, uid: uid, sender: sender))
            return state.lastNumber
        }
        guard let number else { return turn(of: uid) }
        var given: Turn?
        for await turn in turns {
            given = turn
            break
        }
        // What is left of it goes outside of the lock: a turn that came too late ends with it.
        let left = state.withLock { state in
            state.waiters.firstIndex { $0.number == number }.map { state.waiters.remove(at: $0) }
        }
        withExtendedLifetime(left) {}
        return given
    }

    func take(uid: UInt32) -> Turn? {
        let isFree = state.withLock { begin(uid, &$0) }
        return isFree ? turn(of: uid) : nil
    }

    private func turn(of uid: UInt32) -> Turn { Turn { [self] in end(uid) } }

    private func begin(_ uid: UInt32, _ state: inout State) -> Bool {
        let own = state.countByUID[uid, default: 0]
        let others = state.countByUID.reduce(0) { $0 + ($1.key == Self.root ? 0 : $1.value) }
        guard own < perUIDMax, uid == Self.root || others < max else { return false }
        state.countByUID[uid] = own + 1
        return true
    }

    private func end(_ uid: UInt32) {
        let next = state.withLock { state -> Waiter? in
            let count = state.countByUID[uid, default: 1] - 1
            state.countByUID[uid] = count == 0 ? nil : count
            for place in state.waiters.indices {
                let uid = state.waiters[place].uid
                if begin(uid, &state) { return state.waiters.remove(at: place) }
            }
            return nil
        }
        if let next { next.sender.yield(turn(of: next.uid)) }
    }
}

/// One complete request that passed every check of the connection.
struct ServerRequest: Sendable {
    let head: CheckedHead
    let body: [UInt8]
}

/// What the dispatcher sends down a connection.
enum ServerPart: Sendable {
    case answer(ServerAnswer)
    case streamHead
    case streamEvent([UInt8])
}
