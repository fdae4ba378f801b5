import Settings

/// Keys of several kinds of store, each with one text.
extension Setting {
    /// `socket` of a server that also has an address; the example is an absolute path.
    static func unixSocket(_ scope: SettingScope, example: String) -> Setting {
        Setting(
            scope,
            "socket",
            .text(.path),
            .optional(example: .text(example)),
            "Unix socket of the server; this or address."
        )
    }

    /// `timeout` of one call over HTTP, 30 s by default.
    static let callTimeout = Setting(
        .store,
        "timeout",
        .duration(.seconds(1) ... .seconds(300)),
        .defaultsTo(.duration(.seconds(30))),
        "Time for one call."
    ).outsidePlans()
}

/// Where a section finds its server: `socket` or `address`.
enum ServerPlace {
    case socket(String)
    case address(EndpointURL)

    /// `nil` without one of the two, which is reported; `plainKey` is what turns TLS off.
    init?(
        _ section: SettingsSection,
        plainKey: String?,
        example: String,
        _ problems: inout SectionProblems
    ) {
        switch (section.text("socket"), section.text("address")) {
        case (let socket?, nil): self = .socket(socket)
        case (nil, let address?):
            guard let url = EndpointURL("https://\(address)") else { return nil }
            if let plainKey, !url.isLoopback {
                let reason = "only a loopback address may do without TLS"
                problems.report(.contradiction, plainKey, reason)
            }
            self = .address(url)
        case (_?, _?):
            problems.report(.contradiction, "address", "the section has a socket already")
            return nil
        case (nil, nil):
            // A bad one is reported already.
            if !problems.isWritten("address"), !problems.isWritten("socket") {
                let advice = "give address = \"HOST:PORT\" or socket = \"\(example)\""
                problems.report(.missingKey, "address", advice)
            }
            return nil
        }
    }
}
