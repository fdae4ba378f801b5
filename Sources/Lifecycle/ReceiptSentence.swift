/// A fixed sentence of the service that receipts quote; a page translates it by its text.
package enum ReceiptSentence: String, Sendable, CaseIterable {
    case linkCut, credentialRefused
    case hiddenFolder, closedFolders, emptyName

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
        }
    }
}
