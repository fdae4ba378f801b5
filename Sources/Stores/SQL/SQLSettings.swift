import Settings

/// The keys of the sections below a target of tables.
enum SQLSettings {
    static let all: [Setting] = table + column + key

    private static let table: [Setting] = [
        Setting(
            .table,
            "table",
            .text(.identifier),
            .required(example: .text("posts")),
            "The table. Children are purged before parents, otherwise in the order of the file."
        ),
        Setting(
            .table,
            "column",
            .text(.identifier),
            .required(example: .text("author_id")),
            "Column with the user id."
        ),
        Setting(
            .table,
            "action",
            .choice(TableAction.Name.allCases.map(\.rawValue)),
            .required(example: .text(TableAction.Name.delete.rawValue)),
            """
            "delete" removes the user's rows, "anonymize" overwrites the columns of set, "keep" \
            leaves the rows and lists them on the receipt.
            """
        ),
        Setting(
            .table,
            "keep_reason",
            .text(.sentence),
            .optional(example: .text("tax law, 10 years")),
            """
            Why rows stay, for the receipt. Required for "anonymize" and "keep", refused for \
            "delete".
            """
        ),
        Setting(
            .table,
            "id_type",
            .choice(IDType.allCases.map(\.rawValue)),
            .defaultsTo(.text(IDType.text.rawValue)),
            """
            How the column stores the user id; uuid is for PostgreSQL only. The service checks \
            schema and stored values.
            """
        ),
        Setting(
            .table,
            "created_at_column",
            .text(.identifier),
            .optional(example: .text("created")),
            """
            Column with the creation time of a row. Newer rows stay and are counted. Not set: the \
            receipt says cutoff: none.
            """
        ),
        Setting(
            .table,
            "created_at_unit",
            .choice(CreationColumn.Unit.allCases.map(\.rawValue)),
            .optional(example: .text(CreationColumn.Unit.unixSeconds.rawValue)),
            """
            What created_at_column holds. Required with it, refused without it. timestamp means \
            PostgreSQL's timestamptz, timestamp and date.
            """
        ),
    ]

    private static let column: [Setting] = [
        Setting(
            .column,
            "strategy",
            .choice(MaskStrategy.Name.allCases.map(\.rawValue)),
            .required(example: .text(MaskStrategy.Name.null.rawValue)),
            """
            What replaces the value: NULL, a constant, a keyed hash (equal values stay equal), a \
            random text, or the first characters of the value.
            """
        ),
        Setting(
            .column,
            "value",
            .constant,
            .optional(example: .text("deleted user")),
            """
            Text or whole number for "constant". Required for it, refused otherwise.
            """
        ),
        Setting(
            .column,
            "length",
            .count(0...1024, unit: "characters"),
            .optional(example: .count(3)),
            """
            Characters that "truncate" keeps, followed by "*". Required for it.
            """
        ),
    ]

    private static let key: [Setting] = [
        Setting(
            .key,
            "name",
            .text(.name),
            .required(example: .text("customer")),
            """
            Name of the key. keyed_by of another target is this target's name, a dot, and this \
            name.
            """
        ),
        Setting(
            .key,
            "table",
            .text(.identifier),
            .required(example: .text("accounts")),
            "Table whose rows hold the ids. It need not be purged."
        ),
        Setting(
            .key,
            "column",
            .text(.identifier),
            .required(example: .text("user_id")),
            "Column with the user id."
        ),
        Setting(
            .key,
            "value",
            .text(.identifier),
            .required(example: .text("crm_id")),
            """
            Column with the ids. NULL means none. A value that is not valid as a user id stops the \
            purge of the user.
            """
        ),
        Setting(
            .key,
            "value_type",
            .choice(IDType.allCases.map(\.rawValue)),
            .defaultsTo(.text(IDType.text.rawValue)),
            """
            How that column stores the ids. The other store gets integers in decimal and blobs in \
            lower-case hexadecimal; uuid is for PostgreSQL only.
            """
        ),
        Setting(
            .key,
            "shared",
            .boolean,
            .defaultsTo(.boolean(false)),
            """
            Whether rows of several users may name one id. What it names is purged with its last \
            owner; until then the receipt says that it has others.
            """
        ),
        Setting(
            .key,
            "id_type",
            .choice(IDType.allCases.map(\.rawValue)),
            .defaultsTo(.text(IDType.text.rawValue)),
            """
            How column stores the user id. Must agree with a [[target.table]] for the same table \
            and column, which otherwise decides it.
            """
        ),
        Setting(
            .key,
            "created_at_column",
            .text(.identifier),
            .optional(example: .text("created")),
            """
            Column with the creation time of a row. Ids of rows newer than the request are left \
            alone. Must agree with a [[target.table]] for the same table and column, which \
            otherwise decides it.
            """
        ),
        Setting(
            .key,
            "created_at_unit",
            .choice(CreationColumn.Unit.allCases.map(\.rawValue)),
            .optional(example: .text(CreationColumn.Unit.unixSeconds.rawValue)),
            "What created_at_column holds, as in [[target.table]]."
        ),
    ]
}
