import Settings

extension HTTPKind {
    static let ownSettings: [Setting] =
        place + [
            Setting(
                .store,
                "key_credential",
                .text(.credential),
                .optional(example: .text("stripe-key")),
                "Secret of [store.auth], on one line."
            ).outsidePlans(),
            Setting(
                .store,
                "values",
                .map(.placeholder, .sentence, 0...16),
                .optional(example: .map(["project_id": "1234"])),
                "Texts, no secrets, that stand for {NAME} in steps."
            ),
        ] + calls + connectionSettings

    private static let place = Setting.keys(
        .store,
        (
            "preset", .choice(HTTPPreset.names), .optional(example: .text("stripe")),
            "Vendor whose steps are known (docs/stores/presets.md)."
        ),
        (
            "base_url", .text(.url), .optional(example: .text("https://api.example.com")),
            "Address in front of every path, unless the preset has it."
        )
    )

    private static let calls = Setting.keys(
        .store,
        isOutsidePlans: true,
        (
            "check_id", .text(.sentence), .optional(example: .text("nobody@example.invalid")),
            "An id that no user has, for stores check. Not set: random."
        ),
        (
            "calls_per_minute", .count(1...60_000, unit: "calls"), .optional(example: .count(600)),
            "The vendor's limit of calls."
        )
    )

    private static let connectionSettings: [Setting] = [
        .caFile(.store, example: "/etc/expunged/search-ca.pem").outsidePlans(),
        Setting(
            .store,
            "allow_plain_http",
            .boolean,
            .defaultsTo(.boolean(false)),
            "Allow http for this machine (127.0.0.0/8, ::1, localhost)."
        ).outsidePlans(),
        .privateAddresses(.store).outsidePlans(),
        .callTimeout,
    ]

    static let authSettings = Setting.keys(
        .auth,
        isOutsidePlans: true,
        (
            "scheme", .choice(HTTPAuth.Scheme.allCases.map(\.rawValue)),
            .required(example: .text("basic")), "\"oauth2\" is the client credentials grant."
        ),
        (
            "username", .text(.sentence), .optional(example: .text("expunged")),
            "User (basic), client id (oauth2) or access key id (aws-sigv4)."
        ),
        (
            "header", .text(.headerName), .optional(example: .text("X-API-Key")),
            "Header that carries the secret (header)."
        ),
        (
            "prefix", .text(.sentence), .optional(example: .text("Token token=")),
            "What stands before the secret in that header."
        ),
        (
            "token_url", .text(.tokenURL),
            .optional(example: .text("https://login.example.com/oauth/token")),
            "Where the secret is exchanged for a token (oauth2)."
        ),
        (
            "token_form", .map(.fieldName, .sentence, 0...8),
            .optional(example: .map(["scope": "users.delete"])),
            "Further fields of that exchange, such as scope or audience."
        ),
        (
            "secret_in_body", .boolean, .defaultsTo(.boolean(false)),
            "Send client id and secret in the form (oauth2)."
        ),
        (
            "region", .text(.clientID), .optional(example: .text("eu-central-1")),
            "Region that signatures name (aws-sigv4)."
        ),
        (
            "service", .text(.clientID), .optional(example: .text("es")),
            "Service that signatures name (aws-sigv4)."
        )
    )
}

extension TextRule {
    static let headerName = TextRule(
        "header name",
        "1 to 64 letters, digits or '-'"
    ) { isName($0, countMax: 64, marks: [0x2d]) }
    static let tokenURL = TextRule(
        "URL or path",
        "https://HOST[:PORT][/PATH], or /PATH"
    ) { EndpointURL($0) != nil || $0.hasPrefix("/") && httpPath.accepts($0) }
    static let fieldName = TextRule(
        "field name",
        "1 to 128 characters without control characters or braces"
    ) {
        (1...128).contains($0.unicodeScalars.count) && isPrintable($0)
            && !$0.utf8.contains(0x7b) && !$0.utf8.contains(0x7d)
    }
    static let placeholder = TextRule(
        "placeholder",
        "1 to 32 characters a-z, 0-9 or '_', the first a letter, and none that steps have already"
    ) { text in
        (1...32).contains(text.utf8.count) && text.utf8.first.map(isLower) == true
            && text.utf8.allSatisfy { isLower($0) || isDigit($0) || $0 == 0x5f }
            && !["user_id", "id", "cursor", "page", "request_id"].contains(text)
    }
    static let httpPath = TextRule(
        "path of a call",
        "'/' and the path in ASCII, encoded, without query, '//' and dot segments"
    ) { text in
        let parts = text.lowercased().replacing("%2e", with: ".").split(separator: "/")
        return text.utf8.first == 0x2f && (1...512).contains(text.utf8.count)
            && text.utf8.allSatisfy {
                (0x21...0x7e).contains($0) && !"?#\\\"<>^`|".utf8.contains($0)
            }
            && !text.contains("//") && !parts.contains(".") && !parts.contains("..")
    }
    static let jsonPointer = TextRule(
        "JSON pointer",
        "a JSON pointer such as /data/0/id (RFC 6901; '-' is the last of a list), or empty"
    ) { isPrintable($0) && JSONPointer($0) != nil }
    static let nextPage = TextRule(
        "next page",
        "a JSON pointer, or link-header"
    ) { $0 == "link-header" || jsonPointer.accepts($0) }
    static let fieldText = TextRule(
        "value",
        "at most 1024 characters without control characters"
    ) { $0.unicodeScalars.count <= 1024 && isPrintable($0) }
}
