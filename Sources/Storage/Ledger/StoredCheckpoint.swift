/// A signed checkpoint as state.db knows it.
package struct StoredCheckpoint: Hashable, Sendable {
    /// 0 until it is stored.
    package let id: Int
    /// Leaves that it covers.
    package let size: Int
    package let note: String
    /// The length of the checkpoint file with it.
    package let endsAt: Int

    package init(size: Int, note: String, endsAt: Int) {
        id = 0
        self.size = size
        self.note = note
        self.endsAt = endsAt
    }

    init(_ row: Row<Column>) {
        id = row.int(.id)
        size = row.int(.size)
        note = row.text(.note)
        endsAt = row.int(.endsAt)
    }

    enum Column: Int32, Columns {
        case host, id, size, note, endsAt

        static let insertion = insertion(of: allCases, into: "ledger_checkpoints")
    }
}
