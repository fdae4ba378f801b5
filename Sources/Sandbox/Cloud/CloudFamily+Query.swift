import Synchronization

/// Queries of Firestore: one collection, any collection of a name, or whatever is below a document.
extension CloudFamily {
    private struct Call: Decodable {
        let structuredQuery: Query
    }

    private struct CountCall: Decodable {
        let structuredAggregationQuery: Call
    }

    private struct Query: Decodable {
        struct From: Decodable {
            let collectionId: String?
            let allDescendants: Bool?
        }

        struct Filter: Decodable {
            struct Test: Decodable {
                struct Field: Decodable {
                    let fieldPath: String
                }

                let field: Field
                let op: String
                let value: Value
            }

            let fieldFilter: Test
        }

        struct Cursor: Decodable {
            let values: [Value]
            let before: Bool?
        }

        struct Order: Decodable {
            let field: Filter.Test.Field
            let direction: String?
        }

        struct Projection: Decodable {
            let fields: [Filter.Test.Field]
        }

        let select: Projection?
        let from: [From]
        let `where`: Filter?
        let orderBy: [Order]?
        let startAt: Cursor?
        let limit: Int?
    }

    private struct Value: Decodable {
        struct Values: Decodable {
            let values: [Value]
        }

        let stringValue: String?
        let referenceValue: String?
        let arrayValue: Values?
    }

    func runQuery(_ call: ProviderCall, _ path: [String]) throws(Refusal) -> JSON {
        let query = try read(Call.self, call).structuredQuery
        var found = try find(query, path)
        if let name = query.startAt?.values.first?.referenceValue {
            let start = Self.names(relative(name))
            found = found.filter { Self.precedes(start, Self.names($0.path)) }
        }
        if let limit = query.limit { found = Array(found.prefix(limit)) }
        let time = Self.time(tools.clock.nowMilliseconds)
        guard !found.isEmpty else { return [["readTime": .text(time)]] }
        let fields = query.select?.fields.map(\.fieldPath).filter { $0 != "__name__" } ?? []
        return .list(
            found.map { ["document": json($0, with: fields), "readTime": .text(time)] }
        )
    }

    func runCount(_ call: ProviderCall, _ path: [String]) throws(Refusal) -> JSON {
        let query = try read(CountCall.self, call).structuredAggregationQuery.structuredQuery
        let count = try find(query, path).count
        return [["result": ["aggregateFields": ["n": ["integerValue": "\(count)"]]]]]
    }

    /// In the order of the first field of `orderBy`, then in that of their names.
    private func find(_ query: Query, _ path: [String]) throws(Refusal) -> [CloudDocument] {
        guard query.from.count == 1, let from = query.from.first else {
            throw Refusal(400, "One collection selector.", word: "INVALID_ARGUMENT")
        }
        let isDeep = from.allDescendants == true
        if isDeep, let name = from.collectionId, let groups = configuration.indexedGroups,
            !groups.contains(name)
        {
            throw Refusal(
                400,
                "The query requires a COLLECTION_GROUP_ASC index.",
                word: "FAILED_PRECONDITION"
            )
        }
        let test = query.where?.fieldFilter
        let field = query.orderBy?.first?.field.fieldPath
        // "Requires: That `field` come first in `order_by`" (StructuredQuery.FieldFilter.Operator).
        guard test?.op != "GREATER_THAN" || field == test?.field.fieldPath else {
            throw Refusal(400, "The first order is another field.", word: "INVALID_ARGUMENT")
        }
        let documents = state.withLock { state in
            candidates(path, test, state)
                .filter { names in
                    (isDeep || names.count == path.count + 2)
                        && (from.collectionId.map { names[names.count - 2] == $0 } ?? true)
                }
                .sorted(by: Self.precedes)
                .compactMap { state.documents[$0.joined(separator: "/")] }
                .filter { Self.fits($0, test) }
        }
        guard let field, field != "__name__" else { return documents }
        // Documents without the field are not in its index; the sort is stable.
        return documents.compactMap { document in document.fields[field].map { ($0, document) } }
            .sorted { Self.precedes($0.0, $1.0) }
            .map(\.1)
    }

    /// The names of what may fit; documents that hold the text where it is one.
    private func candidates(
        _ path: [String],
        _ test: Query.Filter.Test?,
        _ state: State
    ) -> [[String]] {
        let listed = test?.value.arrayValue?.values
        let text = test?.op == "EQUAL" ? test?.value.stringValue : listed?.first?.stringValue
        guard let text, test?.op == "EQUAL" || listed?.count == 1 else {
            return below(path, state)
        }
        return state.documents.paths(holding: text).map(Self.names)
            .filter { $0.count > path.count && $0.starts(with: path) }
    }

    private static func fits(_ document: CloudDocument, _ test: Query.Filter.Test?) -> Bool {
        guard let test else { return true }
        guard let value = document.fields[test.field.fieldPath] else { return false }
        switch test.op {
        case "EQUAL": return test.value.stringValue == value
        case "GREATER_THAN":
            return test.value.stringValue.map { precedes($0, value) } ?? false
        case "IN": return test.value.arrayValue?.values.contains { $0.stringValue == value } == true
        default: return false
        }
    }

    private static func precedes(_ left: [String], _ right: [String]) -> Bool {
        left.lexicographicallyPrecedes(right, by: precedes)
    }
}
