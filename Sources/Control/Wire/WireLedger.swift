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

    package static let fields: [WireField] = [
        .required("key", .text, "The public key that signs, as a C2SP verifier key."),
        .required(
            "state",
            .choice(of: LedgerState.self),
            "Whether it agrees with its checkpoints."
        ),
        .required("entries", .integer, "Entries, signed or not."),
        .required("covered", .integer, "Entries that the checkpoint covers."),
        .optional("checkpoint", .text, "The last valid checkpoint, a signed note."),
        .optional("checkpoint_at", .time, "When that was signed."),
        .optional("checkpoints", .integer, "After a verification: checkpoints compared."),
        .required(
            "findings",
            .atMost(ControlLimits.ledgerFindingsMax, .object("LedgerFinding")),
            "What is wrong."
        ),
        .required("finding_count", .integer, "How much is wrong in all."),
    ]
}
