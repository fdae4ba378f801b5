import Lifecycle

extension SettingsTable {
    /// What only a program of your own has.
    static let commandProvider: [Setting] = [
        Setting(
            .provider,
            "program",
            .text(.path),
            .required(example: .text("/usr/local/lib/expunged/my-sso")),
            """
            The program that speaks to the provider. It gets one JSON request on standard input \
            and gives one JSON answer on standard output.
            """
        ).only("command"),
        Setting(
            .provider,
            "arguments",
            .texts(.sentence, 0...16),
            .defaultsTo(.texts([])),
            """
            Arguments of the program, the same for every call. Other processes can read them: no \
            secrets.
            """
        ).only("command"),
        Setting(
            .provider,
            "can_check",
            .boolean,
            .defaultsTo(.boolean(false)),
            """
            Whether the program can tell if a refresh token is live. It is then asked before and \
            after a revocation, at most once a day for each token.
            """
        ).only("command"),
        Setting(
            .provider,
            "revokes_whole_grant",
            .boolean,
            .defaultsTo(.boolean(false)),
            """
            Whether revoking one token ends all tokens of the user there.
            """
        ).only("command"),
        Setting(
            .provider,
            "user_action_url",
            .text(.url),
            .required(example: .text("https://sso.example.com/apps")),
            """
            The page where a user can cut the link by hand; shown on receipts.
            """
        ).only("command"),
        Setting(
            .provider,
            "user_action_text",
            .text(.sentence),
            .required(example: .text("Open the page and remove the app.")),
            """
            What the user does there; shown on receipts.
            """
        ).only("command"),
    ]
}
