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
