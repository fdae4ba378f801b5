extension SettingsTable {
    /// What only `kind = "firestore"` has.
    static let firestore: [Setting] =
        [
            Setting(
                .target,
                "project",
                .text(.cloudName),
                .required(example: .text("example-project")),
                "The project that the database is in."
            ).only("firestore").atRestart(),
            Setting(
                .target,
                "database",
                .text(.cloudName),
                .defaultsTo(.text("(default)")),
                "The database, in native mode."
            ).only("firestore").atRestart(),
            Setting(
                .target,
                "documents",
                .texts(.userObject, 0...64),
                .defaultsTo(.texts([])),
                """
                The paths of a user's documents, such as users/{user_id}; each goes with all that \
                is below it. Users whose id no document can have are left for an operator.
                """
            ).only("firestore").atRestart(),
            Setting(
                .target,
                "collections",
                .texts(.userObject, 0...64),
                .defaultsTo(.texts([])),
                """
                Documents of one collection that hold the user id as a text in a field, such as \
                posts where author_id == {user_id}.
                """
            ).only("firestore").atRestart(),
            Setting(
                .target,
                "groups",
                .texts(.userObject, 0...64),
                .defaultsTo(.texts([])),
                """
                The same in any collection of that name, wherever it is, such as \
                comments where author_id == {user_id}. The field needs an index for collection \
                groups.
                """
            ).only("firestore").atRestart(),
            Setting(
                .target,
                "subcollections",
                .boolean,
                .defaultsTo(.boolean(true)),
                """
                Whether what is below a document that collections or groups find goes along, \
                whoever wrote it. With false it stays, and nothing leads to it any more.
                """
            ).only("firestore").atRestart(),
        ] + google(.target, only: "firestore")
}
