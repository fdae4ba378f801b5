import Engine
import Lifecycle
import Synchronization

/// The rows of the spool whose credentials could not be sealed, and their users.
///
/// A restart reads the spool from its first row, and until then no request goes on.
final class UnsealedRows: Sendable {
    fileprivate struct Waiting {
        /// By the rescan of its spool that saw each row last.
        var rows: [SpoolRow: Int] = [:]
        /// Since this rescan of a spool more of its rows wait than are remembered.
        var fullSince: [SpoolSource: Int] = [:]

        var isEmpty: Bool { rows.isEmpty && fullSince.isEmpty }
    }

    fileprivate struct State {
        var waiting: [[UInt8]: Waiting] = [:]
        /// Number of the rescan of each spool under way or the last one.
        var attempts: [SpoolSource: Int] = [:]
        /// Since this rescan of a spool more of its users wait than are remembered.
        var fullSince: [SpoolSource: Int] = [:]
    }

    fileprivate static let rowsPerUserMax = 8

    private let state = Mutex(State())
    private let tell: @Sendable (UnsealedUsers) -> Void

    init(tell: @escaping @Sendable (UnsealedUsers) -> Void) { self.tell = tell }

    var isEmpty: Bool { state.withLock { $0.waiting.isEmpty && $0.fullSince.isEmpty } }

    func note(_ offers: [CredentialOffer], _ receipts: [SpoolCredentialReceipt]) {
        change { state in
            for (offer, receipt) in zip(offers, receipts) {
                guard let row = offer.spoolRow else { continue }
                if case .postponed = receipt {
                    state.keep(row, of: offer.userHash)
                } else {
                    state.remove(row, of: offer.userHash)
                }
            }
        }
    }

    func rescanBegan(_ source: SpoolSource = .file) {
        state.withLock { $0.attempts[source, default: 0] += 1 }
    }

    func rescanEnded(_ source: SpoolSource = .file) {
        change { $0.dropUnseen(source) }
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
    fileprivate mutating func keep(_ row: SpoolRow, of userHash: [UInt8]) {
        let source = row.source
        let attempt = attempts[source] ?? 0
        guard waiting[userHash] != nil || waiting.count < Limits.unsealedUsersMax else {
            fullSince[source] = attempt
            return
        }
        var rows = waiting[userHash, default: UnsealedRows.Waiting()]
        if rows.rows[row] != nil || rows.rows.count < UnsealedRows.rowsPerUserMax {
            rows.rows[row] = attempt
        } else {
            rows.fullSince[source] = attempt
        }
        waiting[userHash] = rows
    }

    fileprivate mutating func remove(_ row: SpoolRow, of userHash: [UInt8]) {
        guard var rows = waiting[userHash] else { return }
        rows.rows[row] = nil
        waiting[userHash] = rows.isEmpty ? nil : rows
    }

    fileprivate mutating func dropUnseen(_ source: SpoolSource) {
        let attempt = attempts[source] ?? 0
        waiting = waiting.compactMapValues { rows in
            var rows = rows
            rows.rows = rows.rows.filter { $0.key.source != source || $0.value == attempt }
            if let since = rows.fullSince[source], since < attempt { rows.fullSince[source] = nil }
            return rows.isEmpty ? nil : rows
        }
        if let since = fullSince[source], since < attempt { fullSince[source] = nil }
    }

    fileprivate var users: UnsealedUsers {
        UnsealedUsers(Set(waiting.keys), isEverybody: !fullSince.isEmpty)
    }
}
