/// What a replay did at one target.
package struct WireReplayTarget: WireObject, Codable, Hashable {
    package var name: String
    /// Erased users, or ids by which the store knew them, of which something was there again.
    package var found: Int
    /// Of these, erased again and verified; in a drill without a copy none.
    package var erased: Int
    package var rows: Int
    /// Rows or files of erased users that were left alone, since the store dates them after the
    /// erasure or not at all.
    package var newer: Int
    /// Why it is not complete.
    package var error: String?
    /// The same in words, where a code says too little.
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
