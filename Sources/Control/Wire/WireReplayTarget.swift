/// What a replay did at one target.
package struct WireReplayTarget: WireObject, Codable, Hashable {
    package var name: String
    /// Erased users of whom something was there again.
    package var found: Int
    /// Of these, erased again and verified; in a drill without a copy none.
    package var erased: Int
    package var rows: Int
    /// Why it is not complete.
    package var error: String?

    package init(name: String) {
        self.name = name
        found = 0
        erased = 0
        rows = 0
    }

    package static let fields: [WireField] = [
        .required("name", .text, "The target."),
        .required("found", .integer, "Erased users that the store knows."),
        .required("erased", .integer, "Of these, erased again and verified."),
        .required("rows", .integer, "Rows or files that went."),
        .optional("error", .text, "Why it is not complete, such as cannot_list."),
    ]
}
