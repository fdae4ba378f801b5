/// A configuration of a target that the service wrote.
package struct WireSuggestion: WireObject, Codable, Hashable {
    package var name: String
    package var configuration: String

    package init(name: String, configuration: String) {
        (self.name, self.configuration) = (name, configuration)
    }

    package static let fields: [WireField] = [
        .required("name", .text, "The target."),
        .required(
            "configuration",
            .text,
            "Its [[target]] section with the rules, as TOML; comments say what was found."
        ),
    ]
}
