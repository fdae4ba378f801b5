/// The columns of `ledger_checkpoints`.
enum CheckpointColumn: Int32, Columns {
    case id, size, note, endsAt

    static let selection = makeSelection()
}

/// A signed checkpoint as state.db knows it.
package struct StoredCheckpoint: Hashable, Sendable {
    /// Its place among all; 0 until it is stored.
    package let id: Int
    /// The number of leaves that it covers.
    package let size: Int
    /// The signed note.
    package let note: String
    /// The length of the checkpoint file with it.
    package let endsAt: Int

    package init(size: Int, note: String, endsAt: Int) {
        id = 0
        self.size = size
        self.note = note
        self.endsAt = endsAt
    }

    init(_ row: Row<CheckpointColumn>) {
        id = row.int(.id)
        size = row.int(.size)
        note = row.text(.note)
        endsAt = row.int(.endsAt)
    }
}
