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

    init(_ row: SQLRow) {
        id = row.int(0)
        size = row.int(1)
        note = row.text(2)
        endsAt = row.int(3)
    }
}
