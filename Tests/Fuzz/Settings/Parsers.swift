let parsers: [String: Parser] = ["toml": toml, "duration": duration, "url": url]

/// A configuration, from its bytes to the rules of the sections that have no kinds.
@Sendable private func toml(_ bytes: [UInt8]) {
    do {
        let table = SettingsTable(SettingsTable.general)
        var reader = try ConfigurationLoader.open(bytes, file: "fuzz.toml", table: table)
        _ = reader.requests()
        _ = reader.vault()
        _ = reader.server()
        _ = reader.journal()
        _ = reader.controller()
        _ = reader.mail()
        _ = reader.subscribers()
        _ = reader.named(.provider)
        _ = reader.named(.store)
        try reader.finish()
    } catch {
        expect(!error.problems.isEmpty, "a refusal without a reason")
    }
}

@Sendable private func duration(_ bytes: [UInt8]) {
    _ = DurationText.parse(String(decoding: bytes, as: UTF8.self))
}

/// Where a token may go.
@Sendable private func url(_ bytes: [UInt8]) {
    guard let url = EndpointURL(String(decoding: bytes, as: UTF8.self)) else { return }
    expect(!url.host.isEmpty, "a URL without a host")
    expect(!url.host.contains("@") && !url.host.contains("/"), "a host with more than a host")
}
