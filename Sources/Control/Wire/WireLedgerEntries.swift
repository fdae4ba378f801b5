/// A page of the ledger, for an export.
package struct WireLedgerEntries: WireObject, Codable, Hashable {
    /// The index of the first entry.
    package var from: Int
    /// The entries as they were hashed: each is one line of JSON.
    package var entries: [String]
    /// Where the next page begins; absent on the last one.
    package var next: Int?

    package init(from: Int, entries: [String], next: Int?) {
        self.from = from
        self.entries = entries
        self.next = next
    }

    package static let fields: [WireField] = [
        .required("from", .integer, "The index of the first entry."),
        .required("entries", .list(.text), "The entries as they were hashed, each a line of JSON."),
        .optional("next", .integer, "Where the next page begins; absent on the last one."),
    ]
}
