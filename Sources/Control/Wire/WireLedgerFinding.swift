/// Whether the ledger agrees with its checkpoints.
package enum LedgerState: String, Sendable, CaseIterable {
    case sound
    /// Entries that were signed are not there: an old copy was put back.
    case rolledBack = "rolled_back"
    case damaged
}

/// One thing that a verification found.
package struct WireLedgerFinding: WireObject, Codable, Hashable {
    package var kind: String
    package var position: Int

    package init(kind: String, position: Int) { (self.kind, self.position) = (kind, position) }

    package static let fields: [WireField] = [
        .required("kind", .text, "What is wrong, such as root_mismatch."),
        .required("position", .integer, "The entry, size or note that it is about."),
    ]
}
