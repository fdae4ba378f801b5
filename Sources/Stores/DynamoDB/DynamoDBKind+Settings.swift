import Settings

extension DynamoDBKind {
    static let placeSettings: [Setting] =
        server + Setting.accessKey(examples: "dynamodb") + [
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

    static let itemSettings: [Setting] = attributes + [scan]

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
