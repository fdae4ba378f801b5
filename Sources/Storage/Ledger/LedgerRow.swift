/// The leaves of one commit.
package struct LedgerRow: Hashable, Sendable {
    /// The index of the first leaf.
    package let first: Int
    /// How many leaves the row says it has.
    package let count: Int
    package let leaves: [[UInt8]]

    init(_ row: SQLRow) {
        first = row.int(0)
        count = row.int(1)
        leaves = row.blob(2).split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            .map { Array($0) }
    }
}
