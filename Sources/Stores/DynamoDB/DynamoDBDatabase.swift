import Encoding
import Lifecycle

/// What is asked of the tables, with answers that are checked before anything is deleted by them.
struct DynamoDBDatabase: Sendable {
    /// An item as far as it was read.
    struct Item: Hashable, Sendable {
        /// The attributes of the table's key.
        let key: JSONValue
        let attributes: JSONValue
    }

    /// A page, and where the next one begins; `nil` behind the last.
    struct Page: Sendable {
        var items: [Item]
        var next: JSONValue?
    }

    /// One rule for one user.
    struct Search: Sendable {
        let rule: ItemRule
        let table: DynamoDBTable
        /// What the rule's attribute holds.
        let value: JSONValue
        /// Read of each item beside its key.
        let attributes: [String]
        /// The index follows the table late.
        let isLate: Bool
    }

    let client: DynamoDBClient
    let pageSize: Int

    // MARK: Reading

    /// A page of the items that a key, or an index, says are the user's.
    ///
    /// - Parameters:
    ///   - search: The rule and the user.
    ///   - isReversed: From the last sort key to the first.
    ///   - start: Where the page begins; `nil` for the first one.
    /// - Returns: Items of the user, by the key or index.
    /// - Throws: ``CallFailure``.
    func items(
        _ search: Search,
        isReversed: Bool = false,
        from start: JSONValue?
    ) async throws(CallFailure) -> Page {
        var expression = DynamoDBExpression()
        let condition = expression.condition([(name: search.rule.attribute, value: search.value)])
        var call = call(search.table, search.rule.index, from: start)
        call += [
            JSONValue.Member("KeyConditionExpression", .string(condition)),
            JSONValue.Member("ConsistentRead", .bool(!search.isLate)),
            JSONValue.Member("ScanIndexForward", .bool(!isReversed)),
        ]
        // An index may have nothing but keys.
        let names = search.rule.index == nil ? search.attributes : [search.rule.attribute]
        return try await page(call, search, names, &expression, of: "Query")
    }

    /// A page of the items of the whole table that are the user's; most pages are empty.
    func scannedItems(
        _ search: Search,
        from start: JSONValue?
    ) async throws(CallFailure) -> Page {
        var expression = DynamoDBExpression()
        let condition = expression.condition([(name: search.rule.attribute, value: search.value)])
        var call = call(search.table, nil, from: start)
        call += [
            JSONValue.Member("FilterExpression", .string(condition)),
            JSONValue.Member("ConsistentRead", true),
        ]
        return try await page(call, search, search.attributes, &expression, of: "Scan")
    }

    /// An item as it is; `nil` when it is not there, or is not the user's.
    func item(_ item: Item, _ search: Search) async throws(CallFailure) -> Item? {
        var expression = DynamoDBExpression()
        let projection = Self.projection(search.table.key + search.attributes, &expression)
        let answer = try await send(
            "GetItem",
            [
                JSONValue.Member("TableName", .string(search.table.name)),
                JSONValue.Member("Key", item.key),
                JSONValue.Member("ConsistentRead", true),
                JSONValue.Member("ProjectionExpression", .string(projection)),
            ] + expression.members
        )
        guard let found = answer["Item"] else { return nil }
        let read = try self.item(found, search.table)
        guard read.key == item.key else { throw CallFailure(.unusable) }
        return read.attributes[search.rule.attribute] == search.value ? read : nil
    }

    /// Values of the rule's attribute, a page of them.
    func values(
        of rule: ItemRule,
        in table: DynamoDBTable,
        from start: JSONValue?
    ) async throws(CallFailure) -> (values: [JSONValue], next: JSONValue?) {
        var expression = DynamoDBExpression()
        let name = expression.name(rule.attribute)
        let isLate = rule.index.flatMap { table.indexes[$0] }?.isGlobal ?? false
        let answer = try await send(
            "Scan",
            call(table, rule.index, from: start) + [
                JSONValue.Member("ConsistentRead", .bool(!isLate)),
                JSONValue.Member("ProjectionExpression", .string(name)),
            ] + expression.members
        )
        guard let items = answer["Items"]?.array else { throw CallFailure(.unusable) }
        return (items.compactMap { $0[rule.attribute] }, answer["LastEvaluatedKey"])
    }

    /// Some values of an attribute of a table.
    func sample(
        of attribute: String,
        in table: DynamoDBTable
    ) async throws(CallFailure) -> [JSONValue] {
        var expression = DynamoDBExpression()
        let name = expression.name(attribute)
        let answer = try await send(
            "Scan",
            [
                JSONValue.Member("TableName", .string(table.name)),
                JSONValue.Member("Limit", .integer(Int64(DynamoDBLimits.sampleSize))),
                JSONValue.Member("ProjectionExpression", .string(name)),
            ] + expression.members
        )
        guard let items = answer["Items"]?.array else { throw CallFailure(.unusable) }
        return items
    }

    /// Names of tables of the region, a page of them.
    func tables(
        after last: String?
    ) async throws(CallFailure) -> (names: [String], next: String?) {
        let start = last.map { [JSONValue.Member("ExclusiveStartTableName", .string($0))] } ?? []
        let answer = try await send("ListTables", start)
        guard let names = answer["TableNames"]?.array?.compactMap(\.string) else {
            throw CallFailure(.unusable)
        }
        return (names, answer["LastEvaluatedTableName"]?.string)
    }

    // MARK: Changes

    /// Deletes items by their keys.
    ///
    /// - Throws: ``CallFailure``; some may be gone then.
    func delete(_ items: [Item], of table: DynamoDBTable) async throws(CallFailure) {
        var others = items[...]
        while !others.isEmpty {
            var open = others.prefix(DynamoDBLimits.batch).map { item -> JSONValue in
                ["DeleteRequest": ["Key": item.key]]
            }
            others = others.dropFirst(DynamoDBLimits.batch)
            var tries = 0
            while !open.isEmpty {
                let requests = JSONValue.object([JSONValue.Member(table.name, .array(open))])
                let answer = try await send(
                    "BatchWriteItem",
                    [JSONValue.Member("RequestItems", requests)]
                )
                let left = answer["UnprocessedItems"]?[table.name]?.array ?? []
                // Progress begins the tries anew.
                tries = left.count < open.count ? 1 : tries + 1
                open = left
                guard !open.isEmpty else { break }
                guard tries <= DynamoDBLimits.retriesMax else {
                    throw CallFailure(.throttled(retryAfter: nil))
                }
                try await client.walk.rest(RetryPolicy.changedDocument.delay(failures: tries))
            }
        }
    }

    /// Deletes an item that is as it was read.
    ///
    /// - Returns: Whether it was; otherwise it is there still, or gone.
    func delete(_ item: Item, _ search: Search) async throws(CallFailure) -> Bool {
        var expression = DynamoDBExpression()
        let condition = expression.condition(read(item, search))
        return try await change(
            "DeleteItem",
            [
                JSONValue.Member("TableName", .string(search.table.name)),
                JSONValue.Member("Key", item.key),
                JSONValue.Member("ConditionExpression", .string(condition)),
            ] + expression.members
        )
    }

    /// Removes or masks attributes of an item that is as it was read.
    ///
    /// - Returns: Whether it was.
    func release(
        _ item: Item,
        _ search: Search,
        masks: [String: String]
    ) async throws(CallFailure) -> Bool {
        var expression = DynamoDBExpression()
        let condition = expression.condition(read(item, search))
        var removed: [String] = []
        var masked: [String] = []
        for attribute in search.rule.released {
            let name = expression.name(attribute)
            if item.attributes[attribute] == nil { continue }
            if let mask = masks[attribute] {
                masked.append("\(name) = \(expression.value(["S": .string(mask)]))")
            } else {
                removed.append(name)
            }
        }
        let clauses = [("SET", masked), ("REMOVE", removed)].filter { !$0.1.isEmpty }
            .map { "\($0.0) \(Self.list($0.1))" }
        return try await change(
            "UpdateItem",
            [
                JSONValue.Member("TableName", .string(search.table.name)),
                JSONValue.Member("Key", item.key),
                JSONValue.Member("UpdateExpression", .string(clauses.joined(separator: " "))),
                JSONValue.Member("ConditionExpression", .string(condition)),
            ] + expression.members
        )
    }

    /// What the condition of a change compares: that the item is there, is the user's, and has the
    /// date and the values that were read.
    private func read(_ item: Item, _ search: Search) -> [(name: String, value: JSONValue?)] {
        search.attributes.map { (name: $0, value: item.attributes[$0]) }
    }

    private func change(
        _ operation: String,
        _ members: [JSONValue.Member]
    ) async throws(CallFailure) -> Bool {
        do throws(CallFailure) {
            _ = try await send(operation, members)
            return true
        } catch {
            guard error.code == "ConditionalCheckFailedException" else { throw error }
            return false
        }
    }

    // MARK: Calls

    private func send(
        _ operation: String,
        _ members: [JSONValue.Member]
    ) async throws(CallFailure) -> JSONValue {
        try await client.send(operation, .object(members))
    }

    private func call(
        _ table: DynamoDBTable,
        _ index: String?,
        from start: JSONValue?
    ) -> [JSONValue.Member] {
        var members = [
            JSONValue.Member("TableName", .string(table.name)),
            JSONValue.Member("Limit", .integer(Int64(pageSize))),
        ]
        if let index { members.append(JSONValue.Member("IndexName", .string(index))) }
        if let start { members.append(JSONValue.Member("ExclusiveStartKey", start)) }
        return members
    }

    private func page(
        _ call: [JSONValue.Member],
        _ search: Search,
        _ attributes: [String],
        _ expression: inout DynamoDBExpression,
        of operation: String
    ) async throws(CallFailure) -> Page {
        let projection = Self.projection(search.table.key + attributes, &expression)
        let member = JSONValue.Member("ProjectionExpression", .string(projection))
        let answer = try await send(operation, call + [member] + expression.members)
        guard let list = answer["Items"]?.array else { throw CallFailure(.unusable) }
        let items = try list.map { json throws(CallFailure) in try item(json, search.table) }
        // What was not asked for must not be deleted.
        guard items.allSatisfy({ $0.attributes[search.rule.attribute] == search.value }) else {
            throw CallFailure(.unusable)
        }
        return Page(items: items, next: answer["LastEvaluatedKey"])
    }

    private func item(
        _ json: JSONValue,
        _ table: DynamoDBTable
    ) throws(CallFailure) -> Item {
        let key = try table.key.map { name throws(CallFailure) in
            guard let value = json[name] else { throw CallFailure(.unusable) }
            return JSONValue.Member(name, value)
        }
        return Item(key: .object(key), attributes: json)
    }

    /// Names each attribute once; the server refuses it twice.
    private static func projection(
        _ attributes: [String],
        _ expression: inout DynamoDBExpression
    ) -> String {
        var seen: Set<String> = []
        return list(
            attributes.map { expression.name($0) }.filter { seen.insert($0).inserted }
        )
    }

    private static func list(_ names: [String]) -> String { names.joined(separator: ", ") }
}

/// Collects the names and values of a call's expressions, so that none can be read as an operator
/// (docs.aws.amazon.com/amazondynamodb/latest/developerguide/Expressions.html).
struct DynamoDBExpression {
    private var names: [JSONValue.Member] = []
    private var values: [JSONValue.Member] = []

    mutating func name(_ attribute: String) -> String {
        let known = names.first { $0.value == .string(attribute) }
        if let known { return known.name }
        let name = "#n\(names.count)"
        names.append(JSONValue.Member(name, .string(attribute)))
        return name
    }

    mutating func value(_ value: JSONValue) -> String {
        let name = ":v\(values.count)"
        values.append(JSONValue.Member(name, value))
        return name
    }

    /// That attributes have these values; `nil` is one that is not there.
    mutating func condition(_ attributes: [(name: String, value: JSONValue?)]) -> String {
        attributes.map { attribute in
            let name = self.name(attribute.name)
            guard let value = attribute.value else { return "attribute_not_exists(\(name))" }
            return "\(name) = \(self.value(value))"
        }.joined(separator: " AND ")
    }

    /// The members to add to a call.
    var members: [JSONValue.Member] {
        var members = [JSONValue.Member("ExpressionAttributeNames", .object(names))]
        if !values.isEmpty {
            members.append(JSONValue.Member("ExpressionAttributeValues", .object(values)))
        }
        return members
    }
}
