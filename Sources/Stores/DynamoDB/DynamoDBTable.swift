import Encoding
import Lifecycle

/// The shape of a table, as DescribeTable shows it.
struct DynamoDBTable: Hashable, Sendable {
    struct Index: Hashable, Sendable {
        /// The partition key.
        let attribute: String
        /// A global one follows its table late, and cannot be read consistently.
        let isGlobal: Bool
        let isActive: Bool
    }

    /// With the prefix of the store.
    let name: String
    /// The partition key, and the sort key where there is one.
    let key: [String]
    /// `S`, `N` or `B` of each attribute of a key.
    let types: [String: String]
    let indexes: [String: Index]
    let hasStream: Bool

    /// Reads an answer.
    ///
    /// - Returns: `nil` for one that is none of DescribeTable.
    init?(_ answer: JSONValue) {
        guard let table = answer["Table"], let name = table["TableName"]?.string,
            let key = Self.keys(table), !key.isEmpty
        else { return nil }
        self.name = name
        self.key = key
        var types: [String: String] = [:]
        for definition in table["AttributeDefinitions"]?.array ?? [] {
            guard let name = definition["AttributeName"]?.string else { return nil }
            types[name] = definition["AttributeType"]?.string
        }
        self.types = types
        guard key.allSatisfy({ types[$0] != nil }) else { return nil }
        var indexes: [String: Index] = [:]
        for (list, isGlobal) in [
            ("GlobalSecondaryIndexes", true), ("LocalSecondaryIndexes", false),
        ] {
            for index in table[list]?.array ?? [] {
                guard let name = index["IndexName"]?.string, let key = Self.keys(index)?.first
                else { return nil }
                indexes[name] = Index(
                    attribute: key,
                    isGlobal: isGlobal,
                    isActive: !isGlobal || index["IndexStatus"]?.string == "ACTIVE"
                )
            }
        }
        self.indexes = indexes
        hasStream = table["StreamSpecification"]?["StreamEnabled"]?.bool ?? false
    }

    private static func keys(_ json: JSONValue) -> [String]? {
        guard let schema = json["KeySchema"]?.array else { return nil }
        let names = ["HASH", "RANGE"].compactMap { kind in
            schema.first { $0["KeyType"]?.string == kind }?["AttributeName"]?.string
        }
        return names.count == schema.count ? names : nil
    }

    /// What the rule's value is in a query; `nil` for an id that no such attribute can hold.
    ///
    /// Numbers have one spelling here: `007` would be the items of user `7`.
    func value(of user: UserID, by rule: ItemRule) -> JSONValue? {
        let text = rule.text(of: user)
        switch types[rule.attribute] {
        case "S": return ["S": .string(text)]
        case "N":
            let digits = text.hasPrefix("-") ? text.utf8.dropFirst() : text.utf8[...]
            guard rule.isBare, (1...38).contains(digits.count),
                digits.allSatisfy({ (0x30...0x39).contains($0) }),
                digits.first != UInt8(ascii: "0") || text == "0"
            else { return nil }
            return ["N": .string(text)]
        default: return nil
        }
    }

    /// A problem of a rule with this table, in one sentence; `nil` where it fits.
    func problem(of rule: ItemRule) -> String? {
        let place = "table '\(name)'"
        var partition = key[0]
        if let index = rule.index {
            guard let found = indexes[index] else {
                return "\(place) has no index '\(index)' (\(rule))"
            }
            guard found.isActive else {
                return "index '\(index)' of \(place) is being built or deleted; wait for its end"
            }
            partition = found.attribute
        }
        guard partition == rule.attribute else {
            let owner = rule.index.map { "index '\($0)' of \(place)" } ?? place
            return "the partition key of \(owner) is '\(partition)', not '\(rule.attribute)':"
                + " name the key, or an index whose key it is"
        }
        guard let type = types[partition], type != "B", type != "N" || rule.isBare else {
            return "'\(partition)' of \(place) is no text, so '\(rule)' finds nothing"
        }
        if let attribute = rule.released.first(where: { key.contains($0) }) {
            return "'\(attribute)' is part of the key of \(place) and cannot be removed;"
                + " delete the items"
        }
        return nil
    }
}
