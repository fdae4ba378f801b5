import HTTP
import Lifecycle
import NIOHTTP1

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

    private let store: GoogleStore
    let pageSize: Int
    /// Part of each call.
    private let namespace: [(name: String, value: String)]

    /// - Throws: ``HTTP/SetupError`` for a base URL that tokens must not go to.
    init(
        _ plan: RealtimeDatabaseTargetPlan,
        client: GoogleClient,
        settings: RemoteSettings
    ) throws(SetupError) {
        pageSize = plan.pageSize
        // firebase.google.com/docs/emulator-suite/connect_rtdb, "REST API".
        namespace = plan.namespace.map { [("ns", $0)] } ?? []
        store = try GoogleStore(
            baseURL: plan.baseURL,
            path: "",
            client: client,
            settings: settings
        )
    }

    /// The first keys at a place, without what is below them.
    ///
    /// - Throws: ``GoogleFailure``.
    func firstKeys(at path: [String]) async throws(GoogleFailure) -> Content {
        try await read(path, [("shallow", "true"), ("limitToFirst", "\(pageSize)")])
    }

    /// All keys at a place, without what is below them.
    ///
    /// - Throws: ``GoogleFailure``.
    func keys(at path: [String]) async throws(GoogleFailure) -> Content {
        try await read(path, [("shallow", "true")])
    }

    /// The first child of a place with all that is below it.
    ///
    /// - Throws: ``GoogleFailure``.
    func firstChild(at path: [String]) async throws(GoogleFailure) -> Content {
        try await read(path, [("orderBy", "\"$key\""), ("limitToFirst", "1"), ("timeout", "10s")])
    }

    /// Deletes a place with all below it.
    ///
    /// - Returns: Whether it is gone; otherwise it is too much for one write.
    /// - Throws: ``GoogleFailure``.
    func delete(_ path: [String]) async throws(GoogleFailure) -> Bool {
        try await write(GoogleStore.Call(method: .DELETE, path: text(path)))
    }

    /// Deletes some children of a place at once.
    ///
    /// - Returns: Whether they are gone; otherwise it is too much for one write.
    /// - Throws: ``GoogleFailure``.
    func delete(_ keys: [String], at path: [String]) async throws(GoogleFailure) -> Bool {
        var body = JSONBody()
        for key in keys { body.addNull(named: key) }
        return try await write(
            GoogleStore.Call(method: .PATCH, path: text(path), body: body)
        )
    }

    private func read(
        _ path: [String],
        _ query: [(name: String, value: String)]
    ) async throws(GoogleFailure) -> Content {
        let reading = try await store.send(
            GoogleStore.Call(path: text(path), query: query + namespace),
            Self.table
        )
        guard reading.meaning == .honoured, let json = reading.json else { return .large }
        switch json {
        case .null: return .nothing
        case .number(let number): return .value(number)
        case .string, .bool: return .value(nil)
        // Keys that are small numbers make a list of it.
        case .array(let list):
            return .keys(list.indices.filter { !isNull(list[$0]) }.map(String.init))
        case .object(let members):
            guard members.keys.allSatisfy(UserPath.Store.realtimeDatabase.accepts) else {
                throw GoogleFailure(.unusable)
            }
            return members.isEmpty ? .nothing : .keys(members.keys.sorted())
        }
    }

    private func write(_ call: GoogleStore.Call) async throws(GoogleFailure) -> Bool {
        var call = call
        call.query = Self.limit + namespace
        return try await store.send(call, Self.table).meaning == .honoured
    }

    private func text(_ path: [String]) -> String {
        "/" + path.map { GoogleStore.encoded($0) }.joined(separator: "/") + ".json"
    }

    private func isNull(_ json: JSONValue) -> Bool {
        if case .null = json { true } else { false }
    }

    /// What takes the database more than about a second is refused and has to be split: a larger
    /// write would hold up the application.
    private static let limit = [(name: "writeSizeLimit", value: "tiny")]

    /// Too large a read or write is 400 or 413 (firebase-tools, `removeRemote.ts`).
    ///
    /// What the rules or the account do not permit is 401; so is a token that has run out, in other
    /// words.
    private static let table = GoogleClient.table([
        ReplyRow(200, .member("", .isPresent), .honoured),
        ReplyRow(400, .member("error", .isPresent), .unclear),
        ReplyRow(413, .noPage, .unclear),
        ReplyRow(
            401,
            .member("error", .prefix(["Permission denied"])),
            .trouble(.misconfigured)
        ),
        ReplyRow(404, .anything, .trouble(.misconfigured)),
        ReplyRow(423, .anything, .trouble(.misconfigured)),
    ])
}
