/// What a replay did at one target.
package struct WireReplayTarget: WireObject, Codable, Hashable {
    package var name: String
    package var found = 0
    package var erased = 0
    package var rows = 0
    package var newer = 0
    package var error: String?
    package var detail: String?

    package init(name: String) { self.name = name }

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
