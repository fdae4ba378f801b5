import Encoding
import HTTP
import Lifecycle
import NIOCore
import NIOHTTP1
import Synchronization

/// What can be asked of a Realtime Database
/// (firebase.google.com/docs/reference/rest/database).
struct RealtimeTree: Sendable {
    /// What is at a place.
    enum Content {
        case nothing
        /// A text, a number, a truth value.
        case value(Double?)
        case keys([String])
        /// More than the database answers at once.
        case large
    }

    private let calls: GoogleCalls
    /// Keys of a listing, and of one write.
    let pageSize: Int
    /// Part of each call: which of its databases an emulator is asked for; empty where the host
    /// says it.
    private let namespace: [(name: String, value: String)]

    /// - Throws: ``HTTP/SetupError`` for a base URL that tokens must not go to.
    init(
        _ baseURL: String,
        namespace: String?,
        _ session: GoogleSession,
        pageSize: Int = 1000
    ) throws(SetupError) {
        self.pageSize = pageSize
        // firebase.google.com/docs/emulator-suite/connect_rtdb, "REST API".
        self.namespace = namespace.map { [("ns", $0)] } ?? []
        calls = try GoogleCalls(baseURL: baseURL, path: "", session)
    }

    /// The first keys at a place, without what is below them.
    func firstKeys(at path: [String]) async throws(CallFailure) -> Content {
        try await read(path, [("shallow", "true"), ("limitToFirst", "\(pageSize)")])
    }

    /// All keys at a place, without what is below them.
    func keys(at path: [String]) async throws(CallFailure) -> Content {
        try await read(path, [("shallow", "true")])
    }

    /// Goes through all keys at a place, however many there are.
    ///
    /// - Parameters:
    ///   - path: The place.
    ///   - body: Gets each key as it comes; of a call that fails, some may have come.
    /// - Returns: Whether the database lists them; otherwise they are more than it answers at once.
    /// - Throws: ``CallFailure``.
    func forEachKey(
        at path: [String],
        _ body: @escaping @Sendable (String) -> Void
    ) async throws(CallFailure) -> Bool {
        let listing = KeyListing(body)
        var call = GoogleCalls.Call(path: text(path), query: [("shallow", "true")] + namespace)
        call.stream = BodyStream(max: Self.listingMax) { listing.take($0) }
        guard try await calls.send(call, Self.streamed).meaning == .honoured else { return false }
        guard listing.finish() else { throw CallFailure(.unusable) }
        return true
    }

    /// The first child of a place with all that is below it.
    func firstChild(at path: [String]) async throws(CallFailure) -> Content {
        try await read(path, [("orderBy", "\"$key\""), ("limitToFirst", "1"), ("timeout", "10s")])
    }

    /// Deletes a place with all below it.
    ///
    /// - Returns: Whether it is gone; otherwise it is too much for one write.
    func delete(_ path: [String]) async throws(CallFailure) -> Bool {
        try await write(GoogleCalls.Call(method: .DELETE, path: text(path)))
    }

    /// Deletes some children of a place at once.
    ///
    /// - Returns: Whether they are gone; otherwise it is too much for one write.
    func delete(_ keys: [String], at path: [String]) async throws(CallFailure) -> Bool {
        let body = JSONValue.object(keys.map { JSONValue.Member($0, .null) })
        return try await write(GoogleCalls.Call(method: .PATCH, path: text(path), body: body))
    }

    private func read(
        _ path: [String],
        _ query: [(name: String, value: String)]
    ) async throws(CallFailure) -> Content {
        let reading = try await calls.send(
            GoogleCalls.Call(path: text(path), query: query + namespace),
            Self.table
        )
        guard reading.meaning == .honoured, let json = reading.json else { return .large }
        guard let content = Content(json) else { throw CallFailure(.unusable) }
        return content
    }

    private func write(_ call: GoogleCalls.Call) async throws(CallFailure) -> Bool {
        var call = call
        call.query = Self.limit + namespace
        return try await calls.send(call, Self.table).meaning == .honoured
    }

    private func text(_ path: [String]) -> String {
        "/" + path.map { PercentEncoding.encode($0) }.joined(separator: "/") + ".json"
    }

    /// What takes the database more than about a second is refused and has to be split: a larger
    /// write would hold up the application.
    private static let limit = [(name: "writeSizeLimit", value: "tiny")]

    /// Bytes of one list of keys: twice the largest answer
    /// (firebase.google.com/docs/database/usage/limits,
    /// "Size of a single response served by the database").
    private static let listingMax = 512 << 20

    /// Too large a read or write is 400 or 413 (firebase-tools, `removeRemote.ts`).
    ///
    /// What the rules or the account do not permit is 401; so is a token that has run out, in other
    /// words.
    private static let table = GoogleClient.table(
        [ReplyRow(200, .member("", .isPresent), .honoured)] + failures
    )

    /// The same for a body that has gone to a stream.
    private static let streamed = GoogleClient.table([ReplyRow(200, .empty, .honoured)] + failures)

    private static let failures = [
        ReplyRow(400, .member("error", .isPresent), .unclear),
        ReplyRow(413, .noPage, .unclear),
        ReplyRow(
            401,
            .member("error", .prefix(["Permission denied"])),
            .failure(.misconfigured)
        ),
        ReplyRow(404, .anything, .failure(.misconfigured)),
        ReplyRow(423, .anything, .failure(.misconfigured)),
    ]
}

extension RealtimeTree.Content {
    /// Reads a shallow answer; `nil` for one that no database gives.
    ///
    /// - Parameters:
    ///   - json: The answer, or a piece of it.
    ///   - index: Of the first element, where the piece is a list.
    init?(_ json: JSONValue, from index: Int = 0) {
        switch json {
        case .null: self = .nothing
        case .integer, .number: self = .value(json.number)
        case .string, .bool: self = .value(nil)
        // Keys that are small numbers make a list of it.
        case .array(let list):
            let kept = list.enumerated().filter { _, element in
                if case .null = element { false } else { true }
            }
            self = .keys(kept.map { String(index + $0.offset) })
        case .object(let members):
            let keys = members.map(\.name)
            guard keys.allSatisfy(PathRules.realtimeDatabase.accepts) else { return nil }
            self = keys.isEmpty ? .nothing : .keys(keys.sorted())
        }
    }
}

extension PathRules {
    /// Keys of the tree (firebase.google.com/docs/database/usage/limits, "Data tree").
    static let realtimeDatabase = PathRules(
        allows: { name in
            name.utf8.count <= 768
                && !name.utf8.contains { $0 < 0x20 || $0 == 0x7f || ".$#[]".utf8.contains($0) }
        }
    )
}

/// Reads the answer to a shallow read as it comes: a place may have more keys than fit in memory.
final class KeyListing: Sendable {
    private struct State {
        var pieces = JSONPieces()
        /// Elements of the pieces before.
        var elementCount = 0
        var isUnusable = false
    }

    private let state = Mutex(State())
    private let body: @Sendable (String) -> Void

    /// - Parameter body: Gets the keys; it must not take long.
    init(_ body: @escaping @Sendable (String) -> Void) { self.body = body }

    /// Takes what came next.
    func take(_ part: ByteBufferView) {
        read { pieces throws(JSONPieces.Malformed) in try pieces.take(part) }
    }

    /// Ends it.
    ///
    /// - Returns: Whether all was as it is documented; otherwise there may be more keys than were
    ///   given.
    func finish() -> Bool {
        read { pieces throws(JSONPieces.Malformed) in try pieces.finish() }
        return state.withLock { !$0.isUnusable }
    }

    private func read(_ next: (inout JSONPieces) throws(JSONPieces.Malformed) -> JSONValue?) {
        state.withLock { state in
            guard !state.isUnusable else { return }
            do {
                guard let piece = try next(&state.pieces) else { return }
                state.isUnusable = !pass(piece, &state.elementCount)
            } catch {
                state.isUnusable = true
            }
        }
    }

    private func pass(_ piece: JSONValue, _ elementCount: inout Int) -> Bool {
        let content = RealtimeTree.Content(piece, from: elementCount)
        switch content {
        case nil: return false
        case .keys(let keys)?: keys.forEach(body)
        case .nothing?, .value?, .large?: break
        }
        elementCount += piece.array?.count ?? 0
        return true
    }
}
