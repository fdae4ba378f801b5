/// A configuration of a store that the service wrote.
package struct WireSuggestion: WireObject, Codable, Hashable {
    package var name: String
    package var configuration: String

    package init(name: String, configuration: String) {
        (self.name, self.configuration) = (name, configuration)
    }

    package static let members: [WireMember<WireSuggestion>] = [
        .field("name", \.name, "The store."),
        .field(
            "configuration",
            \.configuration,
            "Its [[store]] section with the rules, as TOML; comments say what was found."
        ),
    ]
}
