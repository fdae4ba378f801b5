import Engine
import Lifecycle
import Synchronization

/// The rows of the spool whose credentials could not be sealed, and their users.
///
/// A restart reads the spool from its first row, and until then no request goes on.
final class UnsealedRows: Sendable {
    fileprivate struct Waiting {
        /// By the rescan that saw each row last.
        var rows: [SpoolRow: Int] = [:]
        /// Since this rescan more rows wait than are remembered.
        var fullSince: Int?

        var isEmpty: Bool { rows.isEmpty && fullSince == nil }
    }

    fileprivate struct State {
        var waiting: [[UInt8]: Waiting] = [:]
        /// Number of the rescan under way or the last one.
        var round = 0
        /// Since this rescan more users wait than are remembered.
        var fullSince: Int?
    }

    fileprivate static let rowsPerUserMax = 8

    private let state = Mutex(State())
    private let tell: @Sendable (UnsealedUsers) -> Void

    init(tell: @escaping @Sendable (UnsealedUsers) -> Void) { self.tell = tell }

    var isEmpty: Bool { state.withLock { $0.waiting.isEmpty && $0.fullSince == nil } }

    func note(_ rows: [SpoolCredential], _ receipts: [SpoolCredentialReceipt]) {
        change { state in
            for (row, receipt) in zip(rows, receipts) {
                if case .postponed = receipt {
                    state.keep(row)
                } else {
                    state.remove(row)
                }
            }
        }
    }

    func rescanBegan() { state.withLock { $0.round += 1 } }

    func rescanEnded() {
        change { $0.dropUnseen() }
    }

    private func change(_ body: (inout State) -> Void) {
        let users = state.withLock { state -> UnsealedUsers? in
            let before = state.users
            body(&state)
            return state.users == before ? nil : state.users
        }
        if let users { tell(users) }
    }
}

extension UnsealedRows.State {
    fileprivate mutating func keep(_ row: SpoolCredential) {
        guard waiting[row.userHash] != nil || waiting.count < Limits.unsealedUsersMax else {
            fullSince = round
            return
        }
        var rows = waiting[row.userHash, default: UnsealedRows.Waiting()]
        if rows.rows[row.row] != nil || rows.rows.count < UnsealedRows.rowsPerUserMax {
            rows.rows[row.row] = round
        } else {
            rows.fullSince = round
        }
        waiting[row.userHash] = rows
    }

    fileprivate mutating func remove(_ row: SpoolCredential) {
        guard var rows = waiting[row.userHash] else { return }
        rows.rows[row.row] = nil
        waiting[row.userHash] = rows.isEmpty ? nil : rows
    }

    fileprivate mutating func dropUnseen() {
        waiting = waiting.compactMapValues { rows in
            var rows = rows
            rows.rows = rows.rows.filter { $0.value == round }
            if let since = rows.fullSince, since < round { rows.fullSince = nil }
            return rows.isEmpty ? nil : rows
        }
        if let since = fullSince, since < round { fullSince = nil }
    }

    fileprivate var users: UnsealedUsers {
        UnsealedUsers(Set(waiting.keys), isEverybody: fullSince != nil)
    }
}
