/// A page of the ledger, for an export.
package struct WireLedgerEntries: WireObject, Codable, Hashable {
    package var from: Int
    package var entries: [String]
    package var next: Int?

    package init(from: Int, entries: [String], next: Int?) {
        (self.from, self.entries, self.next) = (from, entries, next)
    }

    package static let fields: [WireField] = [
        .required("from", .integer, "The index of the first entry."),
        .required("entries", .list(.text), "The entries as they were hashed, each a line of JSON."),
        .optional("next", .integer, "Where the next page begins; absent on the last one."),
    ]
}
