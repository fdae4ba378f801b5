/// What a replay did at one target.
package struct WireReplayTarget: WireObject, Codable, Hashable {
    package var name: String
    package var found: Int
    package var erased: Int
    package var rows: Int
    package var newer: Int
    package var error: String?
    package var detail: String?

    package init(name: String) {
        self.name = name
        found = 0
        erased = 0
        rows = 0
        newer = 0
    }

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
