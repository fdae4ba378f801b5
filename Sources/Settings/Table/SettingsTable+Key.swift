extension SettingsTable {
    static let key: [Setting] = [
        Setting(
            .key,
            "name",
            .text(.name),
            .required(example: .text("customer")),
            "What keyed_by of another target calls these ids, behind this target's name and a dot."
        ),
        Setting(
            .key,
            "table",
            .text(.identifier),
            .required(example: .text("accounts")),
            "The table whose rows hold the ids. It need not be purged."
        ),
        Setting(
            .key,
            "column",
            .text(.identifier),
            .required(example: .text("user_id")),
            "The column that holds the user id."
        ),
        Setting(
            .key,
            "value",
            .text(.identifier),
            .required(example: .text("crm_id")),
            """
            The column that holds the ids. NULL is none; any other value must be fit for a user \
            id: 1 to 255 bytes without control characters. Otherwise nothing of the user is purged.
            """
        ),
        Setting(
            .key,
            "value_type",
            .choice(TableConfiguration.IDType.allCases.map(\.rawValue)),
            .defaultsTo(.text(TableConfiguration.IDType.text.rawValue)),
            """
            How that column stores them. The other store gets integers in decimal, blobs as \
            lower-case hexadecimal digits; uuid is for PostgreSQL only.
            """
        ),
        Setting(
            .key,
            "shared",
            .boolean,
            .defaultsTo(.boolean(false)),
            """
            Whether several users' rows may name one id. What it stands for is then purged only \
            once no row of the table names it any more: it goes with its last owner, and until \
            then the receipt says that it still has others.
            """
        ),
        Setting(
            .key,
            "id_type",
            .choice(TableConfiguration.IDType.allCases.map(\.rawValue)),
            .defaultsTo(.text(TableConfiguration.IDType.text.rawValue)),
            """
            How column stores the user id. A [[target.table]] with the same table and column \
            decides it, and must not be contradicted.
            """
        ),
        Setting(
            .key,
            "created_at_column",
            .text(.identifier),
            .optional(example: .text("created")),
            """
            The column that says when a row was made: ids of rows newer than the request are left \
            alone. A [[target.table]] with the same table and column decides it, and must not be \
            contradicted.
            """
        ),
        Setting(
            .key,
            "created_at_unit",
            .choice(CreatedAtUnit.allCases.map(\.rawValue)),
            .optional(example: .text(CreatedAtUnit.unixSeconds.rawValue)),
            "What created_at_column holds, as in [[target.table]]."
        ),
    ]
}
