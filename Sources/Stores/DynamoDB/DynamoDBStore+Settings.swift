import Settings

extension DynamoDBStore {
    static let placeSettings: [Setting] = [
        Setting(
            .target,
            "region",
            .text(.clientID),
            .required(example: .text("eu-central-1")),
            "Region of the tables."
        ).atRestart(),
        Setting(
            .target,
            "endpoint",
            .text(.origin),
            .optional(example: .text("https://dynamodb.eu-central-1.amazonaws.com")),
            "Address of the server. Not set: that of the region."
        ).atRestart(),
        Setting(
            .target,
            "ca_file",
            .text(.path),
            .optional(example: .text("/etc/expunged/dynamodb-ca.pem")),
            "PEM file with the certificate authorities to trust instead of the system's."
        ).atRestart().outsidePlans(),
        Setting(
            .target,
            "access_key_id",
            .text(.clientID),
            .required(example: .text("AKIAIOSFODNN7EXAMPLE")),
            "Public part of the access key."
        ).atRestart().outsidePlans(),
        Setting(
            .target,
            "secret_key_credential",
            .text(.credential),
            .required(example: .text("dynamodb-secret-key")),
            "Credential with the secret part of the access key, on one line."
        ).atRestart().outsidePlans(),
        Setting(
            .target,
            "session_token_credential",
            .text(.credential),
            .optional(example: .text("dynamodb-session-token")),
            "Credential with the session token of a temporary access key, on one line."
        ).atRestart().outsidePlans(),
        Setting(
            .target,
            "table_prefix",
            .text(.tablePrefix),
            .optional(example: .text("production-")),
            "What stands in front of the names of all tables."
        ).atRestart(),
        Setting(
            .target,
            "timeout",
            .duration(.seconds(1) ... .seconds(300)),
            .defaultsTo(.duration(.seconds(30))),
            "Time for one call, including the connection."
        ).atRestart().outsidePlans(),
    ]

    static let itemSettings: [Setting] = [
        Setting(
            .target,
            "items",
            .texts(.userObject, 0...64),
            .defaultsTo(.texts([])),
            """
            Items to delete, by the partition key of a table or of an index: "profiles where \
            user_id == {user_id}", "posts by author-index where author_id == {user_id}".
            """
        ).atRestart(),
        Setting(
            .target,
            "releases",
            .texts(.userObject, 0...64),
            .defaultsTo(.texts([])),
            """
            Items that stay without some attributes: "comments by author-index where author_id == \
            {user_id} remove author_id, author_name".
            """
        ).atRestart(),
        Setting(
            .target,
            "masks",
            .map(.sentence, .sentence, 0...64),
            .defaultsTo(.map([:])),
            "Texts that attributes of releases get instead of being removed."
        ).atRestart(),
        Setting(
            .target,
            "created_at_attributes",
            .map(.sentence, .sentence, 0...64),
            .defaultsTo(.map([:])),
            """
            The attribute with the creation time of an item, by table. Newer items stay and are \
            counted. Not set: the receipt says cutoff: none.
            """
        ).atRestart(),
        Setting(
            .target,
            "created_at_unit",
            .choice(ItemDate.Unit.allCases.map(\.rawValue)),
            .defaultsTo(.text(ItemDate.Unit.iso8601.rawValue)),
            "What these attributes hold."
        ).atRestart(),
        Setting(
            .target,
            "verify_by_scan",
            .boolean,
            .defaultsTo(.boolean(false)),
            """
            Whether a verification reads the whole table behind an index, once per user. A global \
            index follows its table late, and a scan costs read capacity.
            """
        ).atRestart().outsidePlans(),
    ]
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
