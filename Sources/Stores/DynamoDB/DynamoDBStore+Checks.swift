import Encoding
import Lifecycle

extension DynamoDBStore {
    /// Tries what a purge does, on items that nobody has.
    ///
    /// - Returns: One sentence per problem; what waiting mends is one only `withOutages`.
    func problems(withOutages: Bool) async -> [String] {
        var problems: [String] = []
        var refused: Set<String> = []
        do throws(CallFailure) {
            for rule in settings.rules where !refused.contains(rule.table) {
                switch try await table(of: rule) {
                case .success(let table): problems += try await self.problems(of: rule, in: table)
                case .failure(let problem):
                    refused.insert(rule.table)
                    problems.append(problem.description)
                }
            }
        } catch {
            guard withOutages || error.failure == .misconfigured else { return problems }
            problems.append(advice(error.failure))
        }
        return problems
    }

    private func table(
        of rule: ItemRule
    ) async throws(CallFailure) -> Result<DynamoDBTable, StoreSetupError> {
        let name = settings.tablePrefix + rule.table
        do throws(CallFailure) {
            let answer = try await client.send("DescribeTable", ["TableName": .string(name)])
            guard let table = DynamoDBTable(answer) else { throw CallFailure(.unusable) }
            return .success(table)
        } catch {
            guard error.failure == .misconfigured, let code = error.code else { throw error }
            return .failure(StoreSetupError(sentence(code, name)))
        }
    }

    private func sentence(_ code: String, _ table: String) -> String {
        let place = "table '\(table)' in region '\(settings.access.region)'"
        return switch code {
        case "ResourceNotFoundException":
            "there is no \(place): correct the rule, table_prefix or region"
        case "AccessDeniedException":
            "the access key may not describe \(place): allow dynamodb:DescribeTable"
        default:
            "the server refuses the access key for \(place) (\(code)): check access_key_id,"
                + " secret_key_credential, region and this machine's clock"
        }
    }

    // MARK: Rules

    private func problems(
        of rule: ItemRule,
        in table: DynamoDBTable
    ) async throws(CallFailure) -> [String] {
        if let problem = table.problem(of: rule) { return [problem] }
        let isNumber = table.types[rule.attribute] == "N"
        let value: JSONValue =
            isNumber ? Self.nobodyNumber : ["S": .string(rule.text(of: UserID.nobody()))]
        let search = DynamoDBDatabase.Search(
            rule: rule,
            table: table,
            value: value,
            attributes: [rule.attribute] + rule.released,
            isLate: rule.index.flatMap { table.indexes[$0] }?.isGlobal ?? false
        )
        let lacking = try await lackingActions(search)
        return lacking.map { "the access key lacks \($0) for '\(rule)'" }
            + (try await datingProblems(rule, table))
    }

    /// Makes the calls of a purge.
    ///
    /// The keys are those of nobody's items, and conditions hold for none.
    private func lackingActions(
        _ search: DynamoDBDatabase.Search
    ) async throws(CallFailure) -> [String] {
        var lacking: [String] = []
        func probe(
            _ action: String,
            _ call: () async throws(CallFailure) -> Void
        ) async throws(CallFailure) {
            if try await CallFailure.isRefused(call) { lacking.append(action) }
        }
        let item = DynamoDBDatabase.Item(key: key(search.table), attributes: [:])
        try await probe("dynamodb:Query") { () throws(CallFailure) in
            _ = try await database.items(search, from: nil)
        }
        try await probe("dynamodb:GetItem") { () throws(CallFailure) in
            _ = try await database.item(item, search)
        }
        if search.rule.released.isEmpty {
            // Such an item would need the attribute that it is asked not to have.
            let present = [JSONValue.Member(search.rule.attribute, search.value)]
            let nobody = DynamoDBDatabase.Item(key: item.key, attributes: .object(present))
            try await probe("dynamodb:DeleteItem") { () throws(CallFailure) in
                _ = try await database.delete(nobody, search)
            }
            try await probe("dynamodb:BatchWriteItem") { () throws(CallFailure) in
                guard search.rule.index == nil else { return }
                try await database.delete([item], of: search.table)
            }
        } else {
            let full = search.attributes.map { JSONValue.Member($0, search.value) }
            let released = DynamoDBDatabase.Item(key: item.key, attributes: .object(full))
            try await probe("dynamodb:UpdateItem") { () throws(CallFailure) in
                _ = try await database.release(released, search, masks: settings.masks)
            }
        }
        if settings.verifiesByScan, search.rule.index != nil {
            try await probe("dynamodb:Scan") { () throws(CallFailure) in
                _ = try await database.sample(of: search.rule.attribute, in: search.table)
            }
        }
        return lacking
    }

    /// A key of no item: random, and the smallest of its type where it is no text.
    private func key(_ table: DynamoDBTable) -> JSONValue {
        let nobody = UserID.nobody().exposeText()
        return .object(
            table.key.map { name in
                let value: JSONValue =
                    switch table.types[name] {
                    case "N": Self.nobodyNumber
                    case "B": Self.nobodyBytes
                    default: ["S": .string(nobody)]
                    }
                return JSONValue.Member(name, value)
            }
        )
    }

    private static let nobodyNumber: JSONValue = ["N": "-99999999999999999999999999999999999999"]
    private static let nobodyBytes: JSONValue = ["B": "ZXhwdW5nZWQgY2hlY2s="]

    /// Whether the attribute that dates items holds what the configuration says.
    private func datingProblems(
        _ rule: ItemRule,
        _ table: DynamoDBTable
    ) async throws(CallFailure) -> [String] {
        guard let column = settings.datedBy[rule.table] else { return [] }
        var isWrong = false
        let isRefused = try await CallFailure.isRefused { () throws(CallFailure) in
            let items = try await database.sample(of: column.attribute, in: table)
            isWrong = items.contains { ItemDate($0, column) == .unreadable }
        }
        // Only the check scans a table that is not verified by scans.
        guard !isRefused, isWrong else { return [] }
        return [
            "'\(column.attribute)' of table '\(table.name)' is no time of the form"
                + " \(column.unit.rawValue) in some items: correct created_at_unit"
        ]
    }

    private func advice(_ failure: EffectFailure) -> String {
        let place = "DynamoDB at '\(settings.access.endpoint)'"
        return switch failure {
        case .unreachable: "no connection to \(place), or no certificate for it (endpoint, ca_file)"
        case .lost: "\(place) did not answer in time (timeout)"
        case .throttled: "\(place) asks for a pause: the capacity of a table is used up"
        case .misconfigured:
            "\(place) refuses the access key (access_key_id, secret_key_credential, region)"
        case .unusable, .rejected, .refused, .refusesAll, .sealBroken, .vaultSealed, .keys,
            .blocked, .notConfigured:
            "\(place) gave no answer of DynamoDB (endpoint)"
        }
    }
}
