/// A fixed sentence of the service that receipts quote; a page translates it by its id.
package enum ReceiptSentence: String, Sendable, CaseIterable {
    case linkCut = "link_cut"
    case credentialRefused = "credential_refused"
    case hiddenFolder = "hidden_folder"
    case closedFolders = "closed_folders"
    case emptyName = "empty_name"
    case newer, shared
    case spelledOtherwise = "spelled_otherwise"

    /// In English; the ledger signs receipts with it.
    package var text: String {
        switch self {
        case .linkCut: "The provider sent a notification that the link was cut."
        case .credentialRefused:
            "The application submitted a credential after the revocation. The service refused it,"
                + " and the provider may honor it."
        case .hiddenFolder:
            "in a hidden folder, which no wildcard matches; name it in a path of its own"
        case .closedFolders:
            "hidden folders that the service may not search; remove them, or name them in a path of"
                + " their own"
        case .emptyName: "an empty name follows the user id, so it may be another user's"
        case .newer:
            "newer than the request, or of unreadable time: they may belong to a later life of the"
                + " account"
        case .shared: "kept: what it names still has other owners"
        case .spelledOtherwise:
            "a value is spelled otherwise, and an operator gave up erasing from this store"
        }
    }
}

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
