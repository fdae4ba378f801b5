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

    private static let placeSettings: [Setting] =
        server + AWSAccess.keySettings(examples: "dynamodb") + [
            Setting(
                .store,
                "table_prefix",
                .text(.tablePrefix),
                .optional(example: .text("production-")),
                "What stands in front of the names of all tables."
            ),
            .callTimeout,
        ]

    private static let server: [Setting] =
        place + [.caFile(.store, example: "/etc/expunged/dynamodb-ca.pem").outsidePlans()]

    private static let place = Setting.keys(
        .store,
        (
            "region", .text(.clientID), .required(example: .text("eu-central-1")),
            "Region of the tables."
        ),
        (
            "endpoint", .text(.origin),
            .optional(example: .text("https://dynamodb.eu-central-1.amazonaws.com")),
            "Address of the server. Not set: that of the region."
        )
    )

    private static let itemSettings: [Setting] = attributes + [scan]

    private static let scan = Setting(
        .store,
        "verify_by_scan",
        .boolean,
        .defaultsTo(.boolean(false)),
        """
        Whether a verification reads the whole table behind an index \
        (docs/stores/dynamodb.md).
        """
    ).outsidePlans()

    private static let attributes = Setting.keys(
        .store,
        (
            "items", .texts(.userObject, 0...64), .defaultsTo(.texts([])),
            """
            Items to delete, by the partition key of a table or of an index: "profiles where \
            user_id == {user_id}", "posts by author-index where author_id == {user_id}".
            """
        ),
        (
            "releases", .texts(.userObject, 0...64), .defaultsTo(.texts([])),
            """
            Items that stay without some attributes: "comments by author-index where author_id == \
            {user_id} remove author_id, author_name".
            """
        ),
        (
            "masks", .map(.sentence, .sentence, 0...64), .defaultsTo(.map([:])),
            "Texts that replace attributes of releases."
        ),
        (
            "created_at_attributes", .map(.sentence, .sentence, 0...64), .defaultsTo(.map([:])),
            """
            The attribute with the creation time of an item, by table: newer items stay. Not set: \
            the receipt says cutoff: none.
            """
        ),
        (
            "created_at_unit", .choice(ItemDate.Unit.allCases.map(\.rawValue)),
            .defaultsTo(.text(ItemDate.Unit.iso8601.rawValue)), "What these attributes hold."
        )
    )

    let access: AWSAccess
    /// What stands in front of each table's name.
    var tablePrefix = ""
    /// Not empty; those whose items stay name attributes (``ItemRule/released``).
    let rules: [ItemRule]
    /// Texts that released attributes get instead of being removed.
    var masks: [String: String] = [:]
    /// The attribute that dates the items of a table.
    var datedBy: [String: ItemDate.Column] = [:]
    /// Whether a verification reads the whole table behind an index.
    var verifiesByScan = false

    package var cutoff: StoreCutoff {
        let tables = Set(rules.map(\.table)).filter { datedBy[$0] == nil }.sorted()
        guard !tables.isEmpty else { return .everything }
        return .none(
            "no created_at_attributes for \(tables.joined(separator: ", "))",
            remedy: "name the attribute that dates their items"
        )
    }

    package func open(_ environment: StoreEnvironment) throws -> DynamoDBStore {
        let client = try access.client(
            of: Self.name,
            at: access.endpoint,
            accept: DynamoDBClient.contentType,
            concurrency: OrderPool.widthMax,
            environment
        )
        return DynamoDBStore(environment.name, self, client, clock: environment.clock)
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

extension DynamoDBKind {
    package init(_ section: inout SettingsSection, _ problems: inout SectionProblems) {
        problems.refuseTables("DynamoDB has items, not rows; give items or releases")
        access = AWSAccess(Self.name, section, &problems)
        tablePrefix = section.text("table_prefix") ?? ""
        masks = section.map("masks")
        let unit: ItemDate.Unit = section.requiredChoice("created_at_unit")
        datedBy = section.map("created_at_attributes")
            .mapValues { ItemDate.Column(attribute: $0, unit: unit) }
        verifiesByScan = section.flag("verify_by_scan")
        rules =
            problems.read(section.texts("items"), "items") { text throws(MalformedTemplate) in
                try ItemRule(text, releases: false)
            }
            + problems.read(section.texts("releases"), "releases") {
                text throws(MalformedTemplate) in
                try ItemRule(text, releases: true)
            }
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
}

extension TextRule {
    /// Names of tables ("Supported data types and naming rules in Amazon DynamoDB").
    static let tablePrefix = TextRule(
        "prefix of tables",
        "1 to 200 characters A-Z, a-z, 0-9, '.', '_' or '-'"
    ) { text in
        (1...200).contains(text.utf8.count)
            && text.utf8.allSatisfy {
                isLower($0) || isUpper($0) || isDigit($0) || [0x2d, 0x2e, 0x5f].contains($0)
            }
    }
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
