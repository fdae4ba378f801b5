import Encoding
import HTTP
import Lifecycle
import NIOHTTP1

/// What can be asked of a database of Firestore
/// (cloud.google.com/firestore/docs/reference/rest/v1/projects.databases.documents).
struct FirestoreDatabase: Sendable {
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

    enum WriteOutcome {
        case gone
        /// Another client changed it since it was listed.
        case changed
        /// To be tried again.
        case failed
    }

    /// `IN` finds the same as `EQUAL`, by another plan of the server.
    enum Match: String {
        case equal = "EQUAL"
        case within = "IN"
    }

    let id: String
    let project: String
    private let calls: GoogleCalls
    /// Of the database, behind that of the store.
    private let path: String
    /// What all names begin with.
    private let prefix: String
    /// Documents of a page; the listing's own limit (firestore.proto, `ListDocumentsRequest`).
    private let pageSize: Int

    /// - Throws: ``HTTP/SetupError`` for a base URL that tokens must not go to.
    init(
        _ id: String,
        of project: String,
        at baseURL: String?,
        _ session: GoogleSession,
        pageSize: Int = 300
    ) throws(SetupError) {
        (self.id, self.project) = (id, project)
        prefix = "projects/\(project)/databases/\(id)/documents"
        path = "/" + id
        self.pageSize = pageSize
        calls = try GoogleCalls(
            baseURL: baseURL ?? "https://firestore.googleapis.com",
            path: "/v1/projects/\(project)/databases",
            session
        )
    }

    // MARK: Queries

    /// What is below a document, however deep and whether or not the documents between are there;
    /// the document itself is not among it (firebase-tools, `firestore/delete.ts`).
    func descendants(
        of path: [String],
        after: String?
    ) async throws(CallFailure) -> [Document] {
        try await run(query(["allDescendants": true], nil, after: after), below: path)
    }

    /// Documents with the user id in a field.
    func matches(
        _ query: FieldQuery,
        _ user: UserID,
        by match: Match,
        after: String?
    ) async throws(CallFailure) -> [Document] {
        let filter = filter(query, user, by: match)
        return try await run(self.query(from(query), filter, after: after), below: query.parent)
    }

    /// How many documents have the user id in a field.
    func count(_ query: FieldQuery, _ user: UserID) async throws(CallFailure) -> Int {
        let body: JSONValue = [
            "structuredAggregationQuery": [
                "structuredQuery": [
                    "from": [from(query)], "where": filter(query, user, by: .equal),
                ],
                "aggregations": [["alias": "n", "count": [:]]],
            ]
        ]
        let answer = try await post(query.parent, "runAggregationQuery", body)
        let text = answer.member(at: "0.result.aggregateFields.n.integerValue")?.string
        guard let number = text.flatMap({ Int($0) }) else { throw CallFailure(.unusable) }
        return number
    }

    /// Asks for the texts of a field in their order, a document each, behind one of them.
    ///
    /// The next page begins behind the last text of this one, so the owner's other documents are
    /// skipped. An inequality finds values of its own type only, in the order of their bytes
    /// ("Supported data types", cloud.google.com/firestore).
    ///
    /// - Parameters:
    ///   - query: The collection, or any of its name, and the field.
    ///   - path: The names in the field of the query.
    ///   - after: The last text of the page before; empty for the first page.
    /// - Returns: Not empty as long as there may be more.
    /// - Throws: ``CallFailure``, also for texts that do not come in order.
    func owners(
        _ query: FieldQuery,
        at path: FieldPath,
        after: String
    ) async throws(CallFailure) -> [String] {
        let field: JSONValue = ["fieldPath": .string(query.field)]
        let filter: JSONValue = [
            "fieldFilter": [
                "field": field, "op": "GREATER_THAN", "value": ["stringValue": .string(after)],
            ]
        ]
        let body = structuredQuery(field, from(query), filter)
        var texts: [String] = []
        for document in try await documents(body, below: query.parent) {
            guard let value = Self.value(of: document, at: path) else {
                throw CallFailure(.unusable)
            }
            guard let text = value["stringValue"]?.string else { break }
            guard
                (texts.last ?? after).utf8.lexicographicallyPrecedes(text.utf8)
                    || texts.last == text
            else { throw CallFailure(.unusable) }
            texts.append(text)
        }
        return texts
    }

    // MARK: Listings

    /// Names of the collections below a document, or at the root.
    func collections(of path: [String]) async throws(CallFailure) -> [String] {
        var names: [String] = []
        var token: String?
        for _ in 0..<PageWalk.countedPages {
            let answer = try await post(
                path,
                "listCollectionIds",
                ["pageSize": .integer(Int64(pageSize)), "pageToken": JSONValue(token)]
            )
            for name in answer["collectionIds"]?.array ?? [] {
                guard let name = name.string, PathRules.firestore.accepts(name) else {
                    throw CallFailure(.unusable)
                }
                names.append(name)
            }
            token = GoogleCalls.token(answer)
            if token == nil { return names }
        }
        throw CallFailure(.unusable)
    }

    /// A page of a collection, with the documents that are not there but have something below them,
    /// and how it goes on; `nil` when it does not.
    func documents(
        in collection: [String],
        from token: String?
    ) async throws(CallFailure) -> (documents: [Document], next: String?) {
        var call = GoogleCalls.Call(path: encoded(collection))
        call.query = [
            ("pageSize", "\(pageSize)"), ("showMissing", "true"), ("mask.fieldPaths", "__name__"),
        ]
        if let token { call.query.append(("pageToken", token)) }
        let answer = try await calls.object(call, Self.table)
        var documents: [Document] = []
        for json in answer["documents"]?.array ?? [] {
            let document = try document(json)
            guard document.path.dropLast() == collection[...] else { throw CallFailure(.unusable) }
            documents.append(document)
        }
        return (documents, GoogleCalls.token(answer))
    }

    /// A document; `nil` when it is not there.
    func document(at path: [String]) async throws(CallFailure) -> Document? {
        let answer = try await post(
            [],
            "batchGet",
            ["documents": [.string(name(path))], "mask": ["fieldPaths": ["__name__"]]]
        )
        if answer.member(at: "0.missing")?.string == name(path) { return nil }
        guard let found = answer.member(at: "0.found") else { throw CallFailure(.unusable) }
        let document = try document(found)
        guard document.path == path else { throw CallFailure(.unusable) }
        return document
    }

    // MARK: Changes

    /// Deletes documents that have not changed since they were listed, each by itself.
    ///
    /// - Returns: One outcome per document. The call as a whole succeeds when some of them fail.
    /// - Throws: ``CallFailure``, also for a write that is refused.
    func delete(_ documents: [Document]) async throws(CallFailure) -> [WriteOutcome] {
        let writes = documents.map { document -> JSONValue in
            let unchanged = document.updateTime.map { ["updateTime": .string($0)] as JSONValue }
            return ["delete": .string(document.name), "currentDocument": unchanged]
        }
        let answer = try await post([], "batchWrite", ["writes": .array(writes)])
        guard let list = answer["status"]?.array, list.count == documents.count else {
            throw CallFailure(.unusable)
        }
        return try list.map { status throws(CallFailure) in
            try outcome(status["code"]?.number ?? 0)
        }
    }

    /// A document that is not there, for a deletion that changes nothing.
    func absentDocument(_ path: [String]) -> Document {
        Document(path: path, name: name(path), createdAt: nil, updateTime: nil)
    }

    /// For how long earlier versions of documents can be read: an hour, or as many days as
    /// point-in-time recovery keeps (`Database.versionRetentionPeriod`).
    func versionRetention() async throws(CallFailure) -> Duration {
        let answer = try await calls.object(GoogleCalls.Call(path: path), Self.table)
        guard let text = answer["versionRetentionPeriod"]?.string, text.hasSuffix("s"),
            let seconds = Int64(text.dropLast()), (0...31_536_000).contains(seconds)
        else { throw CallFailure(.unusable) }
        return .seconds(seconds)
    }

    /// google.rpc.Code, by number.
    private func outcome(_ code: Double) throws(CallFailure) -> WriteOutcome {
        switch code {
        // NOT_FOUND: another client deleted it.
        case 0, 5: return .gone
        // FAILED_PRECONDITION
        case 9: return .changed
        // DEADLINE_EXCEEDED, RESOURCE_EXHAUSTED, ABORTED, INTERNAL, UNAVAILABLE
        case 4, 8, 10, 13, 14: return .failed
        // PERMISSION_DENIED, UNAUTHENTICATED
        case 7, 16: throw CallFailure(.misconfigured)
        default: throw CallFailure(.unusable)
        }
    }

    // MARK: Requests

    private func from(_ query: FieldQuery) -> JSONValue {
        ["collectionId": .string(query.collection), "allDescendants": .bool(query.isGroup)]
    }

    private func filter(_ query: FieldQuery, _ user: UserID, by match: Match) -> JSONValue {
        let id: JSONValue = ["stringValue": .string(user.exposeText())]
        return [
            "fieldFilter": [
                "field": ["fieldPath": .string(query.field)], "op": .string(match.rawValue),
                "value": match == .within ? ["arrayValue": ["values": [id]]] : id,
            ]
        ]
    }

    /// A page of names, behind a name that need not be there.
    private func query(_ from: JSONValue, _ filter: JSONValue?, after: String?) -> JSONValue {
        let start = after.map { name -> JSONValue in
            ["values": [["referenceValue": .string(name)]], "before": false]
        }
        return structuredQuery(["fieldPath": "__name__"], from, filter, start)
    }

    private func structuredQuery(
        _ field: JSONValue,
        _ from: JSONValue,
        _ filter: JSONValue?,
        _ start: JSONValue? = nil
    ) -> JSONValue {
        [
            "structuredQuery": [
                "select": ["fields": [field]], "from": [from], "where": filter,
                "orderBy": [["field": field, "direction": "ASCENDING"]], "startAt": start,
                "limit": .integer(Int64(pageSize)),
            ]
        ]
    }

    private func run(
        _ body: JSONValue,
        below path: [String]
    ) async throws(CallFailure) -> [Document] {
        var documents: [Document] = []
        for json in try await self.documents(body, below: path) {
            let document = try document(json)
            // What was not asked for must not be deleted.
            guard document.path.starts(with: path), document.path.count > path.count,
                document.createdAt != nil, document.updateTime != nil
            else { throw CallFailure(.unusable) }
            documents.append(document)
        }
        return documents
    }

    /// An answer without documents has one entry, with the time.
    private func documents(
        _ query: JSONValue,
        below path: [String]
    ) async throws(CallFailure) -> [JSONValue] {
        let answer = try await post(path, "runQuery", query)
        guard let list = answer.array else { throw CallFailure(.unusable) }
        return list.compactMap { $0["document"] }
    }

    private func post(
        _ path: [String],
        _ verb: String,
        _ body: JSONValue
    ) async throws(CallFailure) -> JSONValue {
        let path = encoded(path) + ":" + verb
        let call = GoogleCalls.Call(method: .POST, path: path, body: body)
        return try await calls.object(call, Self.table)
    }

    private func encoded(_ path: [String]) -> String {
        self.path + "/documents" + path.map { "/" + PercentEncoding.encode($0) }.joined()
    }

    private func name(_ path: [String]) -> String {
        ([prefix] + path).joined(separator: "/")
    }

    private func document(_ json: JSONValue) throws(CallFailure) -> Document {
        let root = Array((prefix + "/").utf8)
        guard let name = json["name"]?.string, name.utf8.starts(with: root) else {
            throw CallFailure(.unusable)
        }
        // By bytes: a slash is another Character with a combining one behind it.
        let path = name.utf8.dropFirst(root.count)
            .split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
            .map { String(decoding: $0, as: UTF8.self) }
        let createTime = json["createTime"]?.string
        let createdAt = createTime.flatMap { WallTime(rfc3339: $0) }
        guard !path.contains(where: { ["", ".", ".."].contains($0) }),
            path.count.isMultiple(of: 2), (createTime == nil) == (createdAt == nil)
        else { throw CallFailure(.unusable) }
        return Document(
            path: path,
            name: name,
            createdAt: createdAt,
            updateTime: json["updateTime"]?.string
        )
    }

    private static func value(of document: JSONValue, at path: FieldPath) -> JSONValue? {
        var value: JSONValue?
        var fields = document["fields"]
        for name in path.names {
            value = fields?[name]
            fields = value?["mapValue"]?["fields"]
        }
        return value
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
