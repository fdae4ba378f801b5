/// A vendor whose steps are known: one `[[store]]` of `presets.toml`.
struct HTTPPreset: Sendable {
    /// The value of `preset`, and the store's name.
    let name: String
    /// The section, with the vendor's pages and the day on which they were read in its comments.
    let text: String

    /// In the order of the documentation.
    static let all: [HTTPPreset] = String(decoding: PackageResources.presets_toml, as: UTF8.self)
        .split(separator: "\n[[store]]\n").dropFirst().compactMap { text in
            text.firstMatch(of: /name = "([^"]+)"/).map { match in
                HTTPPreset(name: String(match.1), text: "[[store]]\n\(text)\n")
            }
        }
}
