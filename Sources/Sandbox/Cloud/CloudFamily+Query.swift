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

        let from: [From]
        let `where`: Filter?
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
            let start = relative(name).split(separator: "/").map(String.init)
            found = found.filter { Self.precedes(start, Self.names($0)) }
        }
        if let limit = query.limit { found = Array(found.prefix(limit)) }
        let time = Self.time(tools.clock.nowMilliseconds)
        guard !found.isEmpty else { return [["readTime": .text(time)]] }
        return .list(found.map { ["document": json($0), "readTime": .text(time)] })
    }

    func runCount(_ call: ProviderCall, _ path: [String]) throws(Refusal) -> JSON {
        let query = try read(CountCall.self, call).structuredAggregationQuery.structuredQuery
        let count = try find(query, path).count
        return [["result": ["aggregateFields": ["n": ["integerValue": "\(count)"]]]]]
    }

    /// In the order of their names.
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
        return state.withLock { state in
            below(path, state)
                .filter { names in
                    (isDeep || names.count == path.count + 2)
                        && (from.collectionId.map { names[names.count - 2] == $0 } ?? true)
                }
                .sorted(by: Self.precedes)
                .compactMap { state.documents[$0.joined(separator: "/")] }
                .filter { Self.fits($0, query.where?.fieldFilter) }
        }
    }

    private static func fits(_ document: CloudDocument, _ test: Query.Filter.Test?) -> Bool {
        guard let test else { return true }
        guard let value = document.fields[test.field.fieldPath] else { return false }
        switch test.op {
        case "EQUAL": return test.value.stringValue == value
        case "IN": return test.value.arrayValue?.values.contains { $0.stringValue == value } == true
        default: return false
        }
    }

    private static func names(_ document: CloudDocument) -> [String] {
        document.path.split(separator: "/").map(String.init)
    }

    private static func precedes(_ left: [String], _ right: [String]) -> Bool {
        left.lexicographicallyPrecedes(right, by: precedes)
    }
}
