extension SettingsTable {
    /// What only `kind = "google-cloud-storage"` has.
    static let cloudStorage: [Setting] =
        [
            Setting(
                .target,
                "bucket",
                .text(.cloudName),
                .required(example: .text("app-uploads")),
                "The bucket."
            ).only("google-cloud-storage").atRestart(),
            Setting(
                .target,
                "prefixes",
                .texts(.userObject, 0...64),
                .defaultsTo(.texts([])),
                """
                What the names of a user's objects begin with, such as users/{user_id}/. A \
                separator must follow the user id, and users whose id holds it are left for an \
                operator.
                """
            ).only("google-cloud-storage").atRestart(),
            Setting(
                .target,
                "objects",
                .texts(.userObject, 0...64),
                .defaultsTo(.texts([])),
                "Whole names of a user's objects, such as avatars/{user_id}.png."
            ).only("google-cloud-storage").atRestart(),
        ] + google(.target, only: "google-cloud-storage")
}
