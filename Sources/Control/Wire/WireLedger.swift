package import Lifecycle

/// The ledger: its key, its size, and whether it agrees with what was signed.
package struct WireLedger: WireObject, Codable, Hashable {
    package var key: String
    package var state: WireValue<LedgerState>
    package var entries: Int
    package var covered = 0
    package var checkpoint: String?
    package var checkpointAt: WallTime?
    package var checkpoints: Int?
    package var findings: [WireLedgerFinding] = []
    package var findingCount = 0

    package init(key: String, state: LedgerState, entries: Int) {
        (self.key, self.state, self.entries) = (key, .known(state), entries)
    }

    package static let members: [WireMember<WireLedger>] = [
        .field("key", \.key, "The public key that signs, as a C2SP verifier key."),
        .field("state", \.state, "Whether it agrees with its checkpoints."),
        .field("entries", \.entries, "Entries, signed or not."),
        .field("covered", \.covered, "Entries that the checkpoint covers."),
        .field("checkpoint", \.checkpoint, "The last valid checkpoint, a signed note."),
        .field("checkpoint_at", \.checkpointAt, "When that was signed."),
        .field("checkpoints", \.checkpoints, "After a verification: checkpoints compared."),
        .field("findings", \.findings, "What is wrong."),
        .field("finding_count", \.findingCount, "How much is wrong in all."),
    ]
}

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

    package static let listMax: Int? = ControlLimits.ledgerFindingsMax

    package static let members: [WireMember<WireLedgerFinding>] = [
        .field("kind", \.kind, "What is wrong, such as root_mismatch."),
        .field("position", \.position, "The entry, size or note that it is about."),
    ]
}

/// A page of the ledger, for an export.
package struct WireLedgerEntries: WireObject, Codable, Hashable {
    package var from: Int
    package var entries: [String]
    package var next: Int?

    package init(from: Int, entries: [String], next: Int?) {
        (self.from, self.entries, self.next) = (from, entries, next)
    }

    package static let members: [WireMember<WireLedgerEntries>] = [
        .field("from", \.from, "The index of the first entry."),
        .field("entries", \.entries, "The entries as they were hashed, each a line of JSON."),
        .field("next", \.next, "Where the next page begins; absent on the last one."),
    ]
}
