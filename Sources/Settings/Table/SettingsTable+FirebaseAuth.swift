extension SettingsTable {
    /// What only `kind = "firebase-auth"` has.
    static let firebaseAuth: [Setting] =
        [
            Setting(
                .target,
                "project",
                .text(.cloudName),
                .required(example: .text("example-project")),
                "The project that the accounts are in."
            ).only("firebase-auth").atRestart(),
            Setting(
                .target,
                "tenant",
                .text(.cloudName),
                .optional(example: .text("tenant-a1b2c")),
                "The tenant of Identity Platform that the accounts are in, if they are in one."
            ).only("firebase-auth").atRestart(),
        ] + google(.target, only: "firebase-auth")
}
