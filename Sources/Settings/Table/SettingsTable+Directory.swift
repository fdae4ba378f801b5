import Lifecycle

extension SettingsTable {
    static let directory: [Setting] =
        [
            Setting(
                .directory,
                "name",
                .text(.name),
                .required(example: .text("firebase")),
                """
                The directory's name in the journal, in metrics and among the providers, where it \
                can be paused like one. No provider may have the same.
                """
            ),
            Setting(
                .directory,
                "kind",
                .choice(DirectoryFamily.allCases.map(\.rawValue)),
                .required(example: .text(DirectoryFamily.firebase.rawValue)),
                """
                The family of the directory: "firebase" is Firebase Authentication or Identity \
                Platform. Every account deletion asks it first at which providers the user is \
                linked.
                """
            ).atRestart(),
            Setting(
                .directory,
                "providers",
                .map(.clientID, .name, 1...64),
                .optional(example: .map(["apple.com": "apple"])),
                """
                Which provider is meant by each of the directory's words, beyond what the kinds \
                of your providers tell: apple.com, google.com, facebook.com, microsoft.com, \
                github.com and twitter.com mean your only provider of that kind.
                """
            ),
            Setting(
                .directory,
                "concurrency",
                .count(1...1024, unit: "calls"),
                .defaultsTo(.count(16)),
                "The most calls to the directory at once."
            ),
            Setting(
                .directory,
                "project",
                .text(.cloudName),
                .required(example: .text("example-project")),
                "The project that the accounts are in."
            ).atRestart(),
            Setting(
                .directory,
                "tenant",
                .text(.cloudName),
                .optional(example: .text("tenant-a1b2c")),
                "The tenant of Identity Platform that the accounts are in, if they are in one."
            ).atRestart(),
        ] + google(.directory)

    /// How one of Google's interfaces is reached as a service account.
    static func google(_ scope: SettingScope, only family: String? = nil) -> [Setting] {
        let settings = [
            Setting(
                scope,
                "key_credential",
                .text(.credential),
                .optional(example: .text("service-account.json")),
                """
                The credential that holds the key file of a service account, as Google's console \
                hands it out. Needed unless emulator is set.
                """
            ).secret().atRestart(),
            Setting(
                scope,
                "emulator",
                .boolean,
                .defaultsTo(.boolean(false)),
                """
                Speak to an emulator, which takes the token "owner" and needs no service account. \
                base_url must be on this machine then.
                """
            ).atRestart(),
            Setting(
                scope,
                "base_url",
                .text(.url),
                .optional(example: .text("https://stand-in.example.com/cloud")),
                "The address instead of Google's own, for an emulator or a stand-in."
            ).atRestart(),
        ]
        guard let family else { return settings + connection(scope) }
        return (settings + connection(scope)).map { $0.only(family) }
    }

    private static func connection(_ scope: SettingScope) -> [Setting] {
        [
            Setting(
                scope,
                "timeout_connect",
                .duration(.milliseconds(100) ... .seconds(60)),
                .defaultsTo(.duration(.seconds(5))),
                "The time for a connection to stand, TLS included."
            ),
            Setting(
                scope,
                "timeout_total",
                .duration(.milliseconds(100) ... .seconds(300)),
                .defaultsTo(.duration(.seconds(30))),
                "The time for one call to be answered, connecting included."
            ),
            Setting(
                scope,
                "ca_file",
                .text(.path),
                .optional(example: .text("/etc/expunged/ca.pem")),
                "Certificates in PEM form that are trusted instead of the system's."
            ),
            Setting(
                scope,
                "allow_plain_http",
                .boolean,
                .defaultsTo(.boolean(false)),
                """
                Accept http instead of https for a host on this machine (127.0.0.0/8, ::1, \
                localhost). For tests and emulators only.
                """
            ),
        ]
    }
}
