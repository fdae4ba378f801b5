/// A fixed sentence of a kind of store about copies that stay for a while.
///
/// The state keeps its id. Receipts print the text and the id, by which it is translated.
package struct ResidualPhrase: Hashable, Sendable {
    package let id: String
    /// In English; `%` stands for a name or number.
    package let template: String

    package init(_ id: String, _ template: String) { (self.id, self.template) = (id, template) }

    /// What a store has promised to erase, until the promised time.
    package static let promised = ResidualPhrase(
        "promised",
        "data that the store has promised to erase"
    )

    /// The template with its name.
    package static func filled(_ template: String, _ name: String?) -> String {
        guard let name, let place = template.firstIndex(of: "%") else { return template }
        return template[..<place] + name + template[template.index(after: place)...]
    }
}
