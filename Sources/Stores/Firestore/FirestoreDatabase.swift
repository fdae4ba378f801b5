import Encoding
import HTTP
import Lifecycle
import NIOHTTP1

/// What can be asked of a database of Firestore
/// (cloud.google.com/firestore/docs/reference/rest/v1/projects.databases.documents).
struct FirestoreDatabase: Sendable {
    /// A document as a listing tells it.
    struct Document: Hashable, Sendable {
        /// Relative to the database.
        let path: [String]
        /// The whole name.
        let name: String
        /// `nil` for one that is not there but has something below it.
        let createdAt: WallTime?
        /// As the server wrote it.
        let updateTime: String?
    }

    /// What became of one write.
    enum WriteOutcome {
        case gone
        /// Written by somebody else since it was listed.
        case changed
        /// To be tried again.
        case failed
    }

    /// Some documents of a listing, and how it goes on; `nil` when it does not.
    struct Page {
        var documents: [Document] = []
        var next: String?
    }

    /// `IN` finds the same as `EQUAL`, by another plan of the server.
    enum Match: String {
        case equal = "EQUAL"
        case within = "IN"
    }

    private let store: GoogleStore
    /// Of the database, behind that of the store.
    private let path: String
    /// What all names begin with.
    private let prefix: String
    let pageSize: Int

    /// - Throws: ``HTTP/SetupError`` for a base URL that tokens must not go to.
    init(
        _ plan: FirestoreTargetPlan,
        client: GoogleClient,
        settings: RemoteSettings
    ) throws(SetupError) {
        let place = "projects/\(plan.project)/databases/\(plan.database)"
        prefix = place + "/documents"
        path = "/" + plan.database
        pageSize = plan.pageSize
        store = try GoogleStore(
            baseURL: plan.baseURL ?? "https://firestore.googleapis.com",
            path: "/v1/projects/\(plan.project)/databases",
            client: client,
            settings: settings
        )
    }

    // MARK: Queries

    /// What is below a document, however deep and whether or not the documents between are there;
    /// the document itself is not among it (firebase-tools, `firestore/delete.ts`).
    ///
    /// - Throws: ``GoogleFailure``.
    func descendants(
        of path: [String],
        after: String?
    ) async throws(GoogleFailure) -> [Document] {
        var from = JSONBody()
        from.add("allDescendants", flag: true)
        return try await run(query(from, nil, after: after), below: path)
    }

    /// Documents with the user id in a field.
    ///
    /// - Throws: ``GoogleFailure``.
    func matches(
        _ query: FieldQuery,
        _ user: UserID,
        by match: Match,
        after: String?
    ) async throws(GoogleFailure) -> [Document] {
        let filter = filter(query, user, by: match)
        return try await run(self.query(from(query), filter, after: after), below: query.parent)
    }

    /// How many documents have the user id in a field.
    ///
    /// - Throws: ``GoogleFailure``.
    func count(_ query: FieldQuery, _ user: UserID) async throws(GoogleFailure) -> Int {
        var structured = JSONBody()
        structured.add("from", list: [from(query)])
        structured.add("where", object: filter(query, user, by: .equal))
        var count = JSONBody()
        count.add("alias", "n")
        count.add("count", object: JSONBody())
        var aggregation = JSONBody()
        aggregation.add("structuredQuery", object: structured)
        aggregation.add("aggregations", list: [count])
        var body = JSONBody()
        body.add("structuredAggregationQuery", object: aggregation)
        let answer = try await post(query.parent, "runAggregationQuery", body)
        let text = answer.member(at: "0.result.aggregateFields.n.integerValue")?.string
        guard let number = text.flatMap({ Int($0) }) else { throw GoogleFailure(.unusable) }
        return number
    }

    // MARK: Listings

    /// Names of the collections below a document, or at the root.
    ///
    /// - Throws: ``GoogleFailure``.
    func collections(of path: [String]) async throws(GoogleFailure) -> [String] {
        var names: [String] = []
        var token = ""
        for _ in 0..<PageWalk.countedPages {
            var body = JSONBody()
            body.add("pageSize", pageSize)
            if !token.isEmpty { body.add("pageToken", token) }
            let answer = try await post(path, "listCollectionIds", body)
            for name in answer["collectionIds"]?.array ?? [] {
                guard let name = name.string, UserPath.Store.firestore.accepts(name) else {
                    throw GoogleFailure(.unusable)
                }
                names.append(name)
            }
            token = answer["nextPageToken"]?.string ?? ""
            if token.isEmpty { return names }
        }
        throw GoogleFailure(.unusable)
    }

    /// A page of a collection, with the documents that are not there but have something below them.
    ///
    /// - Throws: ``GoogleFailure``.
    func documents(
        in collection: [String],
        from token: String
    ) async throws(GoogleFailure) -> Page {
        var call = GoogleStore.Call(path: encoded(collection))
        call.query = [
            ("pageSize", "\(pageSize)"), ("showMissing", "true"), ("mask.fieldPaths", "__name__"),
        ]
        if !token.isEmpty { call.query.append(("pageToken", token)) }
        let answer = try await send(call)
        var page = Page()
        for json in answer["documents"]?.array ?? [] {
            let document = try document(json)
            guard document.path.dropLast() == collection[...] else {
                throw GoogleFailure(.unusable)
            }
            page.documents.append(document)
        }
        page.next = answer["nextPageToken"]?.string.flatMap { $0.isEmpty ? nil : $0 }
        return page
    }

    /// A document; `nil` when it is not there.
    ///
    /// - Throws: ``GoogleFailure``.
    func document(at path: [String]) async throws(GoogleFailure) -> Document? {
        var mask = JSONBody()
        mask.add("fieldPaths", texts: ["__name__"])
        var body = JSONBody()
        body.add("documents", texts: [name(path)])
        body.add("mask", object: mask)
        let answer = try await post([], "batchGet", body)
        if answer.member(at: "0.missing")?.string == name(path) { return nil }
        guard let found = answer.member(at: "0.found") else { throw GoogleFailure(.unusable) }
        let document = try document(found)
        guard document.path == path else { throw GoogleFailure(.unusable) }
        return document
    }

    // MARK: Changes

    /// Deletes documents that have not changed since they were listed, each by itself.
    ///
    /// - Returns: One outcome per document. The call as a whole succeeds when some of them fail.
    /// - Throws: ``GoogleFailure``, also for a write that is refused.
    func delete(_ documents: [Document]) async throws(GoogleFailure) -> [WriteOutcome] {
        let writes = documents.map { document in
            var write = JSONBody()
            write.add("delete", document.name)
            if let time = document.updateTime {
                var precondition = JSONBody()
                precondition.add("updateTime", time)
                write.add("currentDocument", object: precondition)
            }
            return write
        }
        var body = JSONBody()
        body.add("writes", list: writes)
        let answer = try await post([], "batchWrite", body)
        guard let list = answer["status"]?.array, list.count == documents.count else {
            throw GoogleFailure(.unusable)
        }
        var outcomes: [WriteOutcome] = []
        for status in list { outcomes.append(try outcome(status["code"]?.number ?? 0)) }
        return outcomes
    }

    /// A document that is not there, for a deletion that changes nothing.
    func absentDocument(_ path: [String]) -> Document {
        Document(path: path, name: name(path), createdAt: nil, updateTime: nil)
    }

    /// For how long earlier versions of documents can be read: an hour, or as many days as
    /// point-in-time recovery keeps (`Database.versionRetentionPeriod`).
    ///
    /// - Throws: ``GoogleFailure``.
    func versionRetention() async throws(GoogleFailure) -> Duration {
        let answer = try await send(GoogleStore.Call(path: path))
        guard let text = answer["versionRetentionPeriod"]?.string, text.hasSuffix("s"),
            let seconds = Int64(text.dropLast()), (0...31_536_000).contains(seconds)
        else { throw GoogleFailure(.unusable) }
        return .seconds(seconds)
    }

    /// google.rpc.Code, by number.
    private func outcome(_ code: Double) throws(GoogleFailure) -> WriteOutcome {
        switch code {
        // NOT_FOUND: somebody else deleted it.
        case 0, 5: return .gone
        // FAILED_PRECONDITION
        case 9: return .changed
        // DEADLINE_EXCEEDED, RESOURCE_EXHAUSTED, ABORTED, INTERNAL, UNAVAILABLE
        case 4, 8, 10, 13, 14: return .failed
        // PERMISSION_DENIED, UNAUTHENTICATED
        case 7, 16: throw GoogleFailure(.misconfigured)
        default: throw GoogleFailure(.unusable)
        }
    }

    // MARK: Requests

    func from(_ query: FieldQuery) -> JSONBody {
        var from = JSONBody()
        from.add("collectionId", query.collection)
        from.add("allDescendants", flag: query.isGroup)
        return from
    }

    private func filter(_ query: FieldQuery, _ user: UserID, by match: Match) -> JSONBody {
        var field = JSONBody()
        field.add("fieldPath", query.field)
        var value = JSONBody()
        value.add("stringValue", user.exposeText())
        if match == .within {
            var list = JSONBody()
            list.add("values", list: [value])
            value = JSONBody()
            value.add("arrayValue", object: list)
        }
        var filter = JSONBody()
        filter.add("field", object: field)
        filter.add("op", match.rawValue)
        filter.add("value", object: value)
        var whole = JSONBody()
        whole.add("fieldFilter", object: filter)
        return whole
    }

    /// A page of names, behind a name that need not be there.
    private func query(_ from: JSONBody, _ filter: JSONBody?, after: String?) -> JSONBody {
        var name = JSONBody()
        name.add("fieldPath", "__name__")
        var select = JSONBody()
        select.add("fields", list: [name])
        var order = JSONBody()
        order.add("field", object: name)
        order.add("direction", "ASCENDING")
        var query = JSONBody()
        query.add("select", object: select)
        query.add("from", list: [from])
        if let filter { query.add("where", object: filter) }
        query.add("orderBy", list: [order])
        if let after {
            var value = JSONBody()
            value.add("referenceValue", after)
            var cursor = JSONBody()
            cursor.add("values", list: [value])
            cursor.add("before", flag: false)
            query.add("startAt", object: cursor)
        }
        query.add("limit", pageSize)
        var body = JSONBody()
        body.add("structuredQuery", object: query)
        return body
    }

    private func run(
        _ body: JSONBody,
        below path: [String]
    ) async throws(GoogleFailure) -> [Document] {
        let answer = try await post(path, "runQuery", body)
        guard let list = answer.array else { throw GoogleFailure(.unusable) }
        var documents: [Document] = []
        // An answer without documents has one entry, with the time.
        for json in list.compactMap({ $0["document"] }) {
            let document = try document(json)
            // What was not asked for is nobody's to delete.
            guard document.path.starts(with: path), document.path.count > path.count,
                document.createdAt != nil, document.updateTime != nil
            else { throw GoogleFailure(.unusable) }
            documents.append(document)
        }
        return documents
    }

    func post(
        _ path: [String],
        _ verb: String,
        _ body: JSONBody
    ) async throws(GoogleFailure) -> JSONValue {
        try await send(
            GoogleStore.Call(method: .POST, path: encoded(path) + ":" + verb, body: body)
        )
    }

    private func send(_ call: GoogleStore.Call) async throws(GoogleFailure) -> JSONValue {
        let reading = try await store.send(call, Self.table)
        guard reading.meaning == .honoured, let json = reading.json else {
            throw GoogleFailure(.unusable)
        }
        return json
    }

    private func encoded(_ path: [String]) -> String {
        self.path + "/documents" + path.map { "/" + GoogleStore.encoded($0) }.joined()
    }

    private func name(_ path: [String]) -> String {
        ([prefix] + path).joined(separator: "/")
    }

    private func document(_ json: JSONValue) throws(GoogleFailure) -> Document {
        let root = Array((prefix + "/").utf8)
        guard let name = json["name"]?.string, name.utf8.starts(with: root) else {
            throw GoogleFailure(.unusable)
        }
        // By bytes: a slash is another Character with a combining one behind it.
        let path = name.utf8.dropFirst(root.count)
            .split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
            .map { String(decoding: $0, as: UTF8.self) }
        let createTime = json["createTime"]?.string
        let createdAt = createTime.flatMap { WallTime(rfc3339: $0) }
        guard !path.contains(where: { ["", ".", ".."].contains($0) }),
            path.count.isMultiple(of: 2), (createTime == nil) == (createdAt == nil)
        else { throw GoogleFailure(.unusable) }
        return Document(
            path: path,
            name: name,
            createdAt: createdAt,
            updateTime: json["updateTime"]?.string
        )
    }

    /// An error of a query comes as the only element of a list.
    private static let table = GoogleClient.table(
        [
            ReplyRow(200, .member("", .isPresent), .honoured),
            ReplyRow(403, .member("0.error", .isPresent), .failure(.misconfigured)),
        ]
            + ["error", "0.error"].flatMap { place in
                [
                    // No index, or a database of the other mode.
                    ReplyRow(
                        400,
                        .member(place + ".status", .text(["FAILED_PRECONDITION"])),
                        .failure(.misconfigured)
                    ),
                    ReplyRow(404, .member(place, .isPresent), .failure(.misconfigured)),
                    ReplyRow(
                        409,
                        .member(place, .isPresent),
                        .failure(.throttled(retryAfter: nil))
                    ),
                    ReplyRow(504, .member(place, .isPresent), .failure(.lost)),
                ]
            }
    )
}
