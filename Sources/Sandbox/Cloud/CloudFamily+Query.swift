import Encoding
import Synchronization

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
