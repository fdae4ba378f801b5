/// How a read of the spool ended that a request waits for.
package enum SpoolReadOutcome: Hashable, Sendable {
    /// Every credential that was committed before the read began is in the vault, or its user is
    /// among the ``UnsealedUsers``.
    case read
    /// The spool cannot be read, for longer than requests wait.
    case unreadable
    case stopped
}

/// Reads the spool to its end, for requests that must not miss a credential in it.
package protocol SpoolReader: Sendable {
    /// Begins a read after the call and waits until it has ended; what it found is durable and was
    /// told to the engine by then.
    func readToEnd() async -> SpoolReadOutcome
}

/// Users of whom a credential waits in the spool that could not be sealed.
package struct UnsealedUsers: Hashable, Sendable {
    private let hashes: Set<[UInt8]>
    private let isEverybody: Bool

    package init(_ hashes: Set<[UInt8]> = [], isEverybody: Bool = false) {
        (self.hashes, self.isEverybody) = (hashes, isEverybody)
    }

    package func contains(_ userHash: [UInt8]) -> Bool { isEverybody || hashes.contains(userHash) }

    package var isEmpty: Bool { hashes.isEmpty && !isEverybody }

    func hasOthers(than users: UnsealedUsers) -> Bool {
        guard !users.isEverybody else { return false }
        return isEverybody || !hashes.isSubset(of: users.hashes)
    }
}
