/// A vendor whose steps are known.
struct HTTPPreset: Sendable {
    /// The value of `preset`.
    let name: String
    /// Where the vendor documents what the steps do.
    let pages: [String]
    /// The day on which the pages were read.
    let read: String
    /// One `[[target]]`, in the language of the configuration.
    let text: String

    /// The text begins behind the name and the kind.
    init(_ name: String, pages: [String], read: String, _ text: String) {
        (self.name, self.pages, self.read) = (name, pages, read)
        self.text = "[[target]]\nname = \"\(name)\"\nkind = \"http\"\n" + text
    }

    /// In the order of the documentation.
    static let all: [HTTPPreset] = [
        .stripe, .intercom, .hubSpot, .amplitude, .postHog, .braze, .algolia, .oneSignal, .auth0,
        .okta, .elasticsearch, .meilisearch, .typesense, .mailchimp, .sendGrid, .segment, .zendesk,
        .revenueCat, .mixpanel, .customerIO,
    ]
}
