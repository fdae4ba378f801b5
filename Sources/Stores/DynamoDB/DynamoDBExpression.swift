import Encoding

/// Collects the names and values of a call's expressions, so that none can be read as an operator
/// (docs.aws.amazon.com/amazondynamodb/latest/developerguide/Expressions.html).
struct DynamoDBExpression {
    private var names: [JSONValue.Member] = []
    private var values: [JSONValue.Member] = []

    /// What stands for an attribute.
    mutating func name(_ attribute: String) -> String {
        let known = names.first { $0.value == .string(attribute) }
        if let known { return known.name }
        let name = "#n\(names.count)"
        names.append(JSONValue.Member(name, .string(attribute)))
        return name
    }

    /// What stands for a value.
    mutating func value(_ value: JSONValue) -> String {
        let name = ":v\(values.count)"
        values.append(JSONValue.Member(name, value))
        return name
    }

    /// That attributes are as they were read; `nil` is one that was not there.
    mutating func unchanged(_ attributes: [(name: String, value: JSONValue?)]) -> String {
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
