import Engine
import HTTP
import Lifecycle
package import Settings

/// Tables of Amazon DynamoDB, or of a server that speaks its protocol.
package struct DynamoDBKind: DrillCopying {
    package static let name = "dynamodb"
    package static let summary = "tables of Amazon DynamoDB"
    package static let traits = StoreTraits(
        residualPhrases: [.tableRecovery, .tableBackups, .tableStream]
    )
    package static let settings = placeSettings + itemSettings

    package let region: String
    package let endpoint: String
    /// `nil` for the system's authorities.
    package let caFile: String?
    package let accessKeyID: String
    package let secretKeyCredential: String
    package let sessionTokenCredential: String?
    package private(set) var tablePrefix: String
    let rules: [ItemRule]
    package let masks: [String: String]
    /// The attribute that dates the items of each table.
    package let datedBy: [String: String]
    let unit: ItemDate.Unit
    package let verifiesByScan: Bool
    package let timeout: Duration

    package init(_ section: inout SettingsSection, _ problems: inout SectionProblems) {
        problems.refuseTables("DynamoDB has items, not rows; give items or releases")
        region = section.requiredText("region")
        endpoint = section.text("endpoint") ?? "https://dynamodb.\(region).amazonaws.com"
        caFile = section.text("ca_file")
        accessKeyID = section.requiredText("access_key_id")
        secretKeyCredential = section.requiredText("secret_key_credential")
        sessionTokenCredential = section.text("session_token_credential")
        tablePrefix = section.text("table_prefix") ?? ""
        masks = section.map("masks")
        datedBy = section.map("created_at_attributes")
        unit = section.requiredChoice("created_at_unit")
        verifiesByScan = section.flag("verify_by_scan")
        timeout = section.duration("timeout")
        var rules: [ItemRule] = []
        for (key, releases) in [("items", false), ("releases", true)] {
            for text in section.texts(key) {
                do throws(MalformedTemplate) {
                    rules.append(try ItemRule(text, releases: releases))
                } catch {
                    problems.report(.malformed, key, "\(error)")
                }
            }
        }
        self.rules = rules
        check(section, &problems)
    }

    private func check(_ section: SettingsSection, _ problems: inout SectionProblems) {
        if section.texts("items").isEmpty, section.texts("releases").isEmpty {
            problems.report(
                .missingKey,
                "items",
                "a store of DynamoDB needs items or releases, such as"
                    + " items = [\"profiles where user_id == {user_id}\"]"
            )
        }
        if let url = EndpointURL(endpoint), !url.isEncrypted {
            problems.report(.malformed, "endpoint", "user ids travel over https only")
        }
        let tables = Set(rules.map(\.table))
        for table in datedBy.keys.sorted() where !tables.contains(table) {
            let cause = "no rule names table '\(table)'"
            problems.report(.contradiction, "created_at_attributes", cause)
        }
        let released = Set(rules.flatMap(\.released))
        for attribute in masks.keys.sorted() where !released.contains(attribute) {
            problems.report(.contradiction, "masks", "releases do not remove '\(attribute)'")
        }
    }

    package var cutoff: StoreCutoff {
        let tables = Set(rules.map(\.table)).filter { datedBy[$0] == nil }.sorted()
        guard !tables.isEmpty else { return .everything }
        return .none(
            "no created_at_attributes for \(tables.joined(separator: ", "))",
            remedy: "name the attribute that dates their items"
        )
    }

    package func open(_ environment: StoreEnvironment) throws -> DynamoDBStore {
        let keys = AWSSigner.Keys(
            accessKeyID: accessKeyID,
            secretKey: try environment.line(secretKeyCredential),
            sessionToken: try sessionTokenCredential.map(environment.line)
        )
        var plan = DynamoDBStorePlan(
            name: environment.name,
            endpoint: endpoint,
            region: region,
            signer: AWSSigner(keys: keys, region: region, service: Self.name),
            rules: rules,
            remote: .pages(of: environment.name, concurrency: OrderPool.widthMax)
        )
        plan.prefix = tablePrefix
        plan.masks = masks
        plan.datedBy = datedBy.mapValues { ItemDate.Column(attribute: $0, unit: unit) }
        plan.verifiesByScan = verifiesByScan
        plan.remote.caFile = caFile
        plan.remote.timeoutTotal = timeout
        return try DynamoDBStore(
            plan: plan,
            on: environment.adapters.eventLoop(of: environment.owner),
            clock: environment.clock,
            logger: environment.adapters.logger
        )
    }

    // MARK: Drills

    /// The same tables with another prefix, as a restored copy has.
    package func copy(at place: String) throws(NoStoreCopy) -> Self {
        var copy = self
        copy.tablePrefix = try TextRule.tablePrefix.check(place)
        return copy
    }

    package func overlaps(_ other: any StoreKind, _ environment: StoreEnvironment) -> Bool {
        guard let other = other as? Self else { return false }
        return !Set(tableNames).isDisjoint(with: other.tableNames)
    }

    private var tableNames: [String] { rules.map { tablePrefix + $0.table } }
}

extension ResidualPhrase {
    static let tableRecovery = ResidualPhrase(
        "table_recovery",
        "earlier states of table '%' in point-in-time recovery"
    )

    static let tableBackups = ResidualPhrase("table_backups", "backups of table '%'")

    static let tableStream = ResidualPhrase(
        "table_stream",
        "records of the deletion in the stream of table '%'"
    )
}
