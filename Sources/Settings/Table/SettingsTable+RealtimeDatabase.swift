extension SettingsTable {
    /// What only `kind = "realtime-database"` has.
    static let realtimeDatabase: [Setting] =
        [
            Setting(
                .target,
                "url",
                .text(.origin),
                .required(example: .text("https://example-project-default-rtdb.firebaseio.com")),
                """
                The database, as the console shows it. base_url takes its place; an emulator is \
                told its name (ns).
                """
            ).only("realtime-database").atRestart(),
            Setting(
                .target,
                "paths",
                .texts(.userObject, 1...64),
                .required(example: .texts(["users/{user_id}"])),
                """
                The paths of a user's data, such as users/{user_id}. Users whose id no key can be \
                are left for an operator.
                """
            ).only("realtime-database").atRestart(),
            Setting(
                .target,
                "created_at_child",
                .text(.identifier),
                .optional(example: .text("created")),
                """
                The child of each path that says when its data was made, in Unix milliseconds as \
                the database's own timestamps. With it, data newer than the request is left alone \
                and counted; without it the receipt says cutoff: none.
                """
            ).only("realtime-database").atRestart(),
        ] + google(.target, only: "realtime-database")
}
