import Engine
import Lifecycle
import Synchronization

/// Knows which rows of the spool hold credentials that could not be sealed, and whose they are.
///
/// A restart finds them again: it reads the spool from its first row, and until then no request
/// goes on.
final class UnsealedRows: Sendable {
    fileprivate struct Entry {
        let userHash: [UInt8]
        /// The rescan that saw it last.
        var round: Int
    }

    fileprivate struct State {
        var entries: [SpoolRow: Entry] = [:]
        var round = 0
        /// More rows than are remembered wait, since this round.
        var fullSince: Int?
    }

    private let state = Mutex(State())
    private let tell: @Sendable (UnsealedUsers) -> Void

    /// - Parameter tell: Hears the users whenever they may have changed.
    init(tell: @escaping @Sendable (UnsealedUsers) -> Void) { self.tell = tell }

    /// Whether no row waits.
    var isEmpty: Bool { state.withLock { $0.entries.isEmpty && $0.fullSince == nil } }

    /// Notes what became of rows.
    func note(_ rows: [SpoolCredential], _ receipts: [SpoolCredentialReceipt]) {
        let users = state.withLock { state -> UnsealedUsers? in
            let isFull = state.fullSince != nil
            var isChanged = false
            for (row, receipt) in zip(rows, receipts) {
                if case .postponed = receipt {
                    isChanged = state.keep(row) || isChanged
                } else {
                    isChanged = state.entries.removeValue(forKey: row.row) != nil || isChanged
                }
            }
            return isChanged || isFull != (state.fullSince != nil) ? state.users : nil
        }
        if let users { tell(users) }
    }

    /// All rows are offered again.
    func rescanBegan() { state.withLock { $0.round += 1 } }

    /// What was not offered again is gone.
    func rescanEnded() {
        let users = state.withLock { state -> UnsealedUsers? in
            let (count, isFull) = (state.entries.count, state.fullSince != nil)
            state.entries = state.entries.filter { $0.value.round == state.round }
            if let since = state.fullSince, since < state.round { state.fullSince = nil }
            let isChanged =
                state.entries.count != count || isFull != (state.fullSince != nil)
            return isChanged ? state.users : nil
        }
        if let users { tell(users) }
    }
}

extension UnsealedRows.State {
    /// - Returns: Whether the row was unknown.
    fileprivate mutating func keep(_ row: SpoolCredential) -> Bool {
        let isNew = entries[row.row] == nil
        guard !isNew || entries.count < Limits.unsealedUsersMax else {
            fullSince = round
            return false
        }
        entries[row.row] = UnsealedRows.Entry(userHash: row.userHash, round: round)
        return isNew
    }

    fileprivate var users: UnsealedUsers {
        UnsealedUsers(Set(entries.values.map(\.userHash)), isEverybody: fullSince != nil)
    }
}
