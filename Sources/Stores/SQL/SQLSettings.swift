import Settings

/// The keys of the sections below a store of tables, and those of its server.
enum SQLSettings {
    static let all: [Setting] = table + references + inside + column + condition + key

    /// `statement_timeout` of a server, 5 s by default.
    static let statementTimeout = Setting(
        .store,
        "statement_timeout",
        .duration(.milliseconds(100) ... .seconds(600)),
        .defaultsTo(.duration(.seconds(5))),
        "Time for one statement; the service tries again later."
    ).outsidePlans()

    private static let table = Setting.keys(
        .table,
        ("table", .text(.identifier), .required(example: .text("posts")), "The table."),
        (
            "column", .text(.identifier), .required(example: .text("author_id")),
            "Column with the user id, or with what via names."
        ),
        (
            "action", .choice(TableAction.Name.allCases.map(\.rawValue)),
            .required(example: .text(TableAction.Name.delete.rawValue)),
            """
            "delete" removes the user's rows, "anonymize" overwrites the columns of set, "keep" \
            leaves the rows and lists them on the receipt.
            """
        ),
        (
            "keep_reason", .text(.sentence), .optional(example: .text("tax law, 10 years")),
            """
            Why rows stay, for the receipt. Required for "anonymize" and "keep".
            """
        ),
        (
            "id_type", .choice(IDType.allCases.map(\.rawValue)),
            .defaultsTo(.text(IDType.text.rawValue)),
            """
            How the column stores the user id; uuid is for PostgreSQL and MariaDB, mixed (a text, \
            or the same number) for SQLite only.
            """
        ),
        (
            "created_at_column", .text(.identifier), .optional(example: .text("created")),
            """
            Column with the creation time of a row: newer ones stay. Not set: the receipt says \
            cutoff: none.
            """
        ),
        (
            "created_at_unit", .choice(CreationColumn.Unit.allCases.map(\.rawValue)),
            .optional(example: .text(CreationColumn.Unit.unixSeconds.rawValue)),
            """
            What created_at_column holds, required with it; timestamp means the server's \
            timestamptz, timestamp, datetime and date.
            """
        )
    )

    private static let references = Setting.keys(
        .table,
        (
            "via", .text(.parentColumn), .optional(example: .text("orders.id")),
            """
            What column refers to, in a table with a rule of its own \
            (docs/guides/real-schemas.md).
            """
        ),
        (
            "id_template", .text(.idTemplate), .optional(example: .text("{tenant_id}:{author_id}")),
            "The user id as made of several columns, column among them."
        ),
        (
            "identifies_user", .boolean, .defaultsTo(.boolean(false)),
            """
            Accept a column that looks like a part of a key, or like a reference to rows of \
            several tables.
            """
        )
    )

    private static let inside = Setting.keys(
        .table,
        (
            "inside", .choice(InsideValue.Name.allCases.map(\.rawValue)),
            .optional(example: .text(InsideValue.Name.json.rawValue)),
            """
            The column holds ids inside its values: in JSON at path, in a PostgreSQL array, in a \
            list parted by separator, or in a text as pattern (docs/guides/ids-inside-values.md).
            """
        ),
        (
            "path", .text(.jsonPath), .optional(example: .text("$.editors[*].id")),
            """
            Where in the JSON the id stands, as a text or a number. Required for inside = "json".
            """
        ),
        (
            "separator", .text(.separator), .optional(example: .text(",")),
            "What parts the elements of a list. Required for inside = \"list\"."
        ),
        (
            "pattern", .text(.pattern), .optional(example: .text("@{users.name}")),
            """
            How the text names the user. Required for inside = "text".
            """
        )
    )

    private static let condition = Setting.keys(
        .condition,
        (
            "equals", .constant, .optional(example: .text("User")),
            "The value. One of equals, in, not and null is required."
        ),
        (
            "in", .texts(.sentence, 1...64), .optional(example: .texts(["User", "Admin"])),
            "One of the values."
        ),
        ("not", .constant, .optional(example: .text("system")), "Any other value, or NULL."),
        ("null", .boolean, .optional(example: .boolean(true)), "Whether the column is NULL.")
    )

    private static let column = Setting.keys(
        .column,
        (
            "strategy", .choice(MaskStrategy.Name.allCases.map(\.rawValue)),
            .required(example: .text(MaskStrategy.Name.null.rawValue)),
            """
            What replaces the value (docs/guides/sqlite-behavior.md). In the column of inside, and \
            at path, "null", "constant" and "remove" change a part of it.
            """
        ),
        (
            "value", .constant, .optional(example: .text("deleted user")),
            """
            Text or whole number for "constant". Required for it, refused otherwise.
            """
        ),
        (
            "path", .text(.jsonPath), .optional(example: .text("$.editors[*]")),
            "The part of JSON that is changed. Default: the path of the rule."
        ),
        (
            "length", .count(0...1024, unit: "characters"), .optional(example: .count(3)),
            """
            Characters that "truncate" keeps, followed by "*". Required for it.
            """
        )
    )

    private static let key = Setting.keys(
        .key,
        (
            "name", .text(.name), .required(example: .text("customer")),
            "Name of the key, for keyed_by."
        ),
        (
            "table", .text(.identifier), .required(example: .text("accounts")),
            "Table whose rows hold the ids."
        ),
        (
            "column", .text(.identifier), .required(example: .text("user_id")),
            "Column with the user id."
        ),
        ("value", .text(.identifier), .required(example: .text("crm_id")), "Column with the ids."),
        (
            "value_type", .choice(IDType.allCases.map(\.rawValue)),
            .defaultsTo(.text(IDType.text.rawValue)),
            """
            How that column stores the ids; uuid is for PostgreSQL and MariaDB. The other store \
            gets integers in decimal and blobs in lower-case hexadecimal.
            """
        ),
        (
            "shared", .boolean, .defaultsTo(.boolean(false)),
            """
            Whether rows of several users may name one id. What it names is purged with its last \
            owner.
            """
        ),
        (
            "id_type", .choice(IDType.allCases.map(\.rawValue)),
            .defaultsTo(.text(IDType.text.rawValue)),
            "How column stores the user id, as in [[store.table]]."
        ),
        (
            "created_at_column", .text(.identifier), .optional(example: .text("created")),
            "Column with the creation time of a row, as in [[store.table]]."
        ),
        (
            "created_at_unit", .choice(CreationColumn.Unit.allCases.map(\.rawValue)),
            .optional(example: .text(CreationColumn.Unit.unixSeconds.rawValue)),
            "What created_at_column holds, as in [[store.table]]."
        )
    )
}

extension TextRule {
    fileprivate static let parentColumn = TextRule(
        "TABLE.COLUMN",
        "TABLE.COLUMN, a table and one of its columns, 1 to 257 characters"
    ) { text in
        text.unicodeScalars.count <= 257 && isPrintable(text) && ParentColumn(text) != nil
    }

    fileprivate static let jsonPath = TextRule(
        "JSON path",
        "a path such as $.editors[*].id, with at most \(JSONPath.arraysMax) [*]"
    ) { text in
        text.unicodeScalars.count <= 256 && isPrintable(text) && JSONPath(text) != nil
    }

    fileprivate static let separator = TextRule(
        "separator",
        "1 to 4 characters, of which one is no blank, letter or digit"
    ) { text in
        (1...4).contains(text.unicodeScalars.count) && isPrintable(text)
            && text.contains { $0 != " " }
            && !text.contains { $0.isLetter || $0.isNumber }
    }

    fileprivate static let pattern = TextRule(
        "pattern",
        "{user} or {TABLE.COLUMN}, once, maybe with text around it"
    ) { text in
        text.unicodeScalars.count <= 128 && isPrintable(text) && InsidePattern(text) != nil
    }

    fileprivate static let idTemplate = TextRule(
        "id template",
        "2 to \(IDTemplate.partsMax) different columns in braces with text between them, such as"
            + " {tenant_id}:{user_id}; {tenant_id:integer} has a type of its own, as id_type"
    ) { text in
        text.unicodeScalars.count <= 600 && isPrintable(text) && IDTemplate(text) != nil
    }
}
