/// One foreign key of a child table.
struct ForeignKey: Sendable {
    let parent: String
    let childColumns: [String]
    /// The parent's primary key when the schema does not name them.
    let parentColumns: [String]
    /// Upper case, such as `NO ACTION`.
    let onDelete: String

    /// Deleting a parent row deletes the child rows.
    var cascades: Bool { onDelete == "CASCADE" }
    /// Deleting a parent row fails while child rows exist.
    var restricts: Bool { onDelete == "NO ACTION" || onDelete == "RESTRICT" }
}
