package import Lifecycle

/// What a replay did at one target.
extension StoreReport: WireObject {
    package static let schemaName = "ReplayTarget"
    package static let fields: [WireField] = [
        .required("name", .text, "The target."),
        .required("found", .integer, "Erased users that the store knows, or ids of them."),
        .required("erased", .integer, "Of these, erased again and verified."),
        .required("rows", .integer, "Rows or files that went."),
        .required(
            "newer",
            .integer,
            "Rows or files left alone, since the store dates them after the erasure or not at all."
        ),
        .optional("error", .text, "Why it is not complete, such as cannot_list."),
        .optional("detail", .text, "The same in words."),
    ]
}
