import Encoding
import FoundationEssentials
import Synchronization

/// The documents of Firestore, over REST.
///
/// Traps: a document that is gone leaves what is below it; a listing of its collection shows it
/// only when asked for missing ones; one write of a batch can fail inside a call that succeeds;
/// pages are shorter than asked for, and their tokens are for reading only.
extension CloudFamily {
    private var documentsPrefix: String {
        "projects/\(configuration.project)/databases/\(configuration.database)/documents"
    }

    func answerFirestore(_ call: Call, _ parts: [String]) throws(Refusal) -> Reply {
        guard parts.count >= 5, parts[0] == "v1", parts[1] == "projects", parts[3] == "databases"
        else { throw Refusal(404, "Not found") }
        guard parts[2] == configuration.project else {
            throw Refusal(403, "Missing or insufficient permissions.", word: "PERMISSION_DENIED")
        }
        // A colon that belongs to a name is encoded.
        let last = parts[parts.count - 1].split(separator: ":", maxSplits: 1).map(String.init)
        let names = (parts[4..<(parts.count - 1)] + [last[0]]).map(ParsedForm.decoded)
        guard names[0] == configuration.database else {
            throw Refusal(404, "The database does not exist.", word: "NOT_FOUND")
        }
        guard names.count > 1 else {
            return .json([
                "name": "\(documentsPrefix)",
                "versionRetentionPeriod": "\(configuration.versionRetentionSeconds)s",
            ])
        }
        let path = Array(names[2...])
        switch (call.method, last.count == 2 ? last[1] : "") {
        case ("POST", "listCollectionIds"): return try listCollections(call, path)
        case ("GET", "") where !path.count.isMultiple(of: 2):
            return listDocuments(call, path)
        case ("POST", "batchGet"): return try batchGet(call)
        case ("POST", "batchWrite"): return try batchWrite(call)
        case ("POST", "runQuery"): return .json(try runQuery(call, path))
        case ("POST", "runAggregationQuery"): return .json(try runCount(call, path))
        default: throw Refusal(404, "Not found")
        }
    }

    private func listCollections(_ call: Call, _ path: [String]) throws(Refusal) -> Reply {
        let listing = try read(call)
        let names = state.withLock { state in
            Set(below(path, state).map { $0[path.count] }).sorted(by: Self.precedes)
        }
        let (page, next) = page(
            names,
            listing["pageSize"]?.number.flatMap { Int(exactly: $0) },
            behind: listing["pageToken"]?.string
        )
        return .json([
            "collectionIds": page.isEmpty ? nil : .array(page.map { .string($0) }),
            "nextPageToken": JSONValue(next),
        ])
    }

    private func listDocuments(_ call: Call, _ path: [String]) -> Reply {
        let showsMissing = call.query["showMissing"] == "true"
        return state.withLock { state in
            let all = Set(below(path, state).map { $0[path.count] })
            let names = all.filter { name in
                showsMissing || state.documents[(path + [name]).joined(separator: "/")] != nil
            }
            let (page, next) = page(
                names.sorted(by: Self.precedes),
                call.query.number("pageSize"),
                behind: call.query["pageToken"]
            )
            let documents = page.map { name -> JSONValue in
                let path = (path + [name]).joined(separator: "/")
                return state.documents[path].map { json($0, with: []) }
                    ?? ["name": "\(documentsPrefix)/\(path)"]
            }
            return .json([
                "documents": documents.isEmpty ? nil : .array(documents),
                "nextPageToken": JSONValue(next),
            ])
        }
    }

    private func batchGet(_ call: Call) throws(Refusal) -> Reply {
        let names = try read(call)["documents"]?.array?.compactMap(\.string) ?? []
        return state.withLock { state in
            let found = names.map { name -> JSONValue in
                state.documents[relative(name)].map { ["found": json($0, with: [])] }
                    ?? ["missing": .string(name)]
            }
            return .json(.array(found))
        }
    }

    /// firestore.proto, `BatchWrite`: no order, no document twice, a status for each.
    private func batchWrite(_ call: Call) throws(Refusal) -> Reply {
        let writes = try read(call)["writes"]?.array ?? []
        let names = writes.compactMap { $0["delete"]?.string }
        guard names.count == writes.count, Set(names).count == names.count, names.count <= 500
        else { throw Refusal(400, "Malformed batch.", word: "INVALID_ARGUMENT") }
        return state.withLock { state in
            let codes = zip(names, writes).map { name, write -> Int64 in
                let path = relative(name)
                if state.failingWriteCount > 0 {
                    state.failingWriteCount -= 1
                    return 10
                }
                if let time = write["currentDocument"]?["updateTime"]?.string {
                    guard let document = state.documents[path] else { return 5 }
                    guard updateTime(document) == time else { return 9 }
                }
                state.documents[path] = nil
                return 0
            }
            return .json([
                "writeResults": .array(codes.map { _ in [:] }),
                "status": .array(codes.map { $0 == 0 ? [:] : ["code": .integer($0)] }),
            ])
        }
    }

    /// The names of what is below a document or collection, or of all documents.
    func below(_ path: [String], _ state: State) -> [[String]] {
        state.documents.paths(below: path).map(Self.names)
    }

    static func names(_ path: String) -> [String] {
        path.utf8.split(separator: UInt8(ascii: "/")).map { String(decoding: $0, as: UTF8.self) }
    }

    /// A document with the given fields; the dots of a path are levels.
    func json(_ document: CloudDocument, with fields: [String]) -> JSONValue {
        let shown = fields.compactMap { path in
            document.fields[path].map { text -> JSONValue.Member in
                let names = path.split(separator: ".").map { String($0).replacing("`", with: "") }
                let value: JSONValue = ["stringValue": .string(text)]
                let member = JSONValue.Member(names[names.count - 1], value)
                return names.dropLast().reversed().reduce(member) { member, name in
                    JSONValue.Member(name, ["mapValue": ["fields": .object([member])]])
                }
            }
        }
        return [
            "name": .string("\(documentsPrefix)/\(document.path)"), "fields": .object(shown),
            "createTime": .string(Self.time(document.createdAtMilliseconds)),
            "updateTime": .string(updateTime(document)),
        ]
    }

    func relative(_ name: String) -> String {
        String(decoding: name.utf8.dropFirst(documentsPrefix.utf8.count + 1), as: UTF8.self)
    }

    static func precedes(_ left: String, _ right: String) -> Bool {
        left.utf8.lexicographicallyPrecedes(right.utf8)
    }

    /// RFC 3339, exact to the millisecond, which a floating-point number is not.
    static func time(_ milliseconds: Int64) -> String {
        let date = Date(timeIntervalSince1970: Double(milliseconds / 1000))
        let fraction = String(1000 + milliseconds % 1000).dropFirst()
        return date.formatted(.iso8601).dropLast() + ".\(fraction)Z"
    }

    private func updateTime(_ document: CloudDocument) -> String {
        Self.time(document.createdAtMilliseconds + document.writeCount)
    }

    private func page(
        _ names: [String],
        _ size: Int?,
        behind token: String?
    ) -> (page: [String], next: String?) {
        let rest = names.drop { name in token.map { !Self.precedes($0, name) } ?? false }
        let page = Array(rest.prefix(min(size ?? 100, configuration.pageMax)))
        return (page, page.count < rest.count ? page.last : nil)
    }
}

/// Queries of Firestore: one collection, any collection of a name, or whatever is below a document.
extension CloudFamily {
    /// A `fieldFilter` (firestore.proto, `StructuredQuery`).
    private struct Filter {
        let field: String
        let word: String
        let text: String?
        let texts: [String?]

        init?(_ query: JSONValue) {
            guard let filter = query["where"]?["fieldFilter"],
                let field = filter["field"]?["fieldPath"]?.string,
                let word = filter["op"]?.string
            else { return nil }
            (self.field, self.word) = (field, word)
            text = filter["value"]?["stringValue"]?.string
            texts =
                filter["value"]?["arrayValue"]?["values"]?.array?
                .map { $0["stringValue"]?.string } ?? []
        }

        func accepts(_ document: CloudDocument) -> Bool {
            guard let value = document.fields[field] else { return false }
            return switch word {
            case "EQUAL": text == value
            case "GREATER_THAN": text.map { CloudFamily.precedes($0, value) } ?? false
            case "IN": texts.contains(value)
            default: false
            }
        }
    }

    func runQuery(_ call: Call, _ path: [String]) throws(Refusal) -> JSONValue {
        guard let query = try read(call)["structuredQuery"] else { throw Refusal.malformed }
        var found = try find(query, path)
        if let name = query["startAt"]?["values"]?.array?.first?["referenceValue"]?.string {
            let start = Self.names(relative(name))
            found = found.filter { Self.precedes(start, Self.names($0.path)) }
        }
        if let limit = query["limit"]?.number.flatMap({ Int(exactly: $0) }) {
            found = Array(found.prefix(limit))
        }
        let time = JSONValue.string(Self.time(tools.clock.nowMilliseconds))
        guard !found.isEmpty else { return [["readTime": time]] }
        let fields = query["select"]?["fields"]?.array?.compactMap { $0["fieldPath"]?.string } ?? []
        let shown = fields.filter { $0 != "__name__" }
        return .array(found.map { ["document": json($0, with: shown), "readTime": time] })
    }

    func runCount(_ call: Call, _ path: [String]) throws(Refusal) -> JSONValue {
        let counted = try read(call)["structuredAggregationQuery"]?["structuredQuery"]
        guard let counted else { throw Refusal.malformed }
        let count = try find(counted, path).count
        return [["result": ["aggregateFields": ["n": ["integerValue": "\(count)"]]]]]
    }

    /// In the order of the first field of `orderBy`, then in that of their names.
    private func find(_ query: JSONValue, _ path: [String]) throws(Refusal) -> [CloudDocument] {
        guard let selectors = query["from"]?.array, selectors.count == 1 else {
            throw Refusal(400, "One collection selector.", word: "INVALID_ARGUMENT")
        }
        let isDeep = selectors[0]["allDescendants"]?.bool == true
        let collection = selectors[0]["collectionId"]?.string
        if isDeep, let collection, configuration.indexedGroups?.contains(collection) == false {
            throw Refusal(
                400,
                "The query requires a COLLECTION_GROUP_ASC index.",
                word: "FAILED_PRECONDITION"
            )
        }
        let filter = Filter(query)
        guard filter != nil || query["where"] == nil else { throw Refusal.malformed }
        let field = query["orderBy"]?.array?.first?["field"]?["fieldPath"]?.string
        // "Requires: That `field` come first in `order_by`" (StructuredQuery.FieldFilter.Operator).
        guard filter?.word != "GREATER_THAN" || field == filter?.field else {
            throw Refusal(400, "The first order is another field.", word: "INVALID_ARGUMENT")
        }
        let documents = state.withLock { state in
            candidates(path, filter, state)
                .filter { names in
                    (isDeep || names.count == path.count + 2)
                        && (collection.map { names[names.count - 2] == $0 } ?? true)
                }
                .sorted(by: Self.precedes)
                .compactMap { state.documents[$0.joined(separator: "/")] }
                .filter { filter?.accepts($0) ?? true }
        }
        guard let field, field != "__name__" else { return documents }
        // Documents without the field are not in its index; the sort is stable.
        return documents.compactMap { document in document.fields[field].map { ($0, document) } }
            .sorted { Self.precedes($0.0, $1.0) }
            .map(\.1)
    }

    /// The names of what may fit; documents that hold the text where it is one.
    private func candidates(_ path: [String], _ filter: Filter?, _ state: State) -> [[String]] {
        let isOne = filter?.word == "EQUAL" || filter?.texts.count == 1
        guard let text = filter?.text ?? filter?.texts.first ?? nil, isOne else {
            return below(path, state)
        }
        return state.documents.paths(holding: text).map(Self.names)
            .filter { $0.count > path.count && $0.starts(with: path) }
    }

    private static func precedes(_ left: [String], _ right: [String]) -> Bool {
        left.lexicographicallyPrecedes(right, by: precedes)
    }
}
