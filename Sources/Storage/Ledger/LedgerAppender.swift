import Engine
import Ledger
import Lifecycle
import Synchronization

/// Collects the leaves of one commit and writes them as one row, in that commit.
///
/// A leaf costs no statement and no hash: the tree is built behind the writer, from what was
/// committed. Only the writer's queue uses the appender; the lock is for the compiler.
package final class LedgerAppender: Sendable {
    struct Mark {
        fileprivate let count: Int
        fileprivate let byteCount: Int
    }

    private struct Page {
        /// The index of the first leaf that is not committed.
        var first: Int
        var count = 0
        /// Leaves with a newline between two.
        var text: [UInt8] = []
    }

    private let page: Mutex<Page>
    private let enforced = Mutex<EnforcedScope?>(nil)
    /// Comes after commits; one may stand for many.
    let signal = WakeSignal()

    /// `first` is the number of leaves in the database.
    init(first: Int) { page = Mutex(Page(first: first)) }

    /// What requests end under from now on; `nil` before any configuration is in force.
    var scope: EnforcedScope? {
        get { enforced.withLock { $0 } }
        set { enforced.withLock { $0 = newValue } }
    }

    var size: Int { page.withLock { $0.first } }

    /// Adds a leaf to the commit under way and returns its index; words become plain.
    @discardableResult
    func write(_ time: WallTime, _ values: [(LedgerEntry.Key, LedgerEntry.Value)]) -> Int {
        let plain = LedgerEntry(at: time, values) ?? LedgerEntry(at: time, values.map(Self.plain))
        guard let plain else { preconditionFailure("a plain word is none") }
        return write(plain)
    }

    private static func plain(
        _ key: LedgerEntry.Key,
        _ value: LedgerEntry.Value
    ) -> (LedgerEntry.Key, LedgerEntry.Value) {
        switch value {
        case .word(let word): (key, .word(LedgerEntry.plain(word)))
        case .words(let words): (key, .words(words.map(LedgerEntry.plain)))
        case .number, .id, .hash, .hashes: (key, value)
        }
    }

    @discardableResult
    func write(_ entry: LedgerEntry) -> Int {
        page.withLock { page in
            if page.count > 0 { page.text.append(UInt8(ascii: "\n")) }
            page.text += entry.bytes
            defer { page.count += 1 }
            return page.first + page.count
        }
    }

    var mark: Mark { page.withLock { Mark(count: $0.count, byteCount: $0.text.count) } }

    func goBack(to mark: Mark) {
        page.withLock { page in
            page.count = mark.count
            page.text.removeLast(page.text.count - mark.byteCount)
        }
    }

    /// Begins a commit and drops what a failed one left.
    ///
    /// `first` is the number of leaves where another host may have added some.
    func begin(at first: Int? = nil) {
        page.withLock { page in
            page.first = first ?? page.first
            page.count = 0
            page.text.removeAll(keepingCapacity: true)
        }
    }

    /// Writes the row, as the last statement of the commit.
    func flush(_ database: any StateConnection) throws {
        let (first, count, text) = page.withLock { ($0.first, $0.count, $0.text) }
        guard count > 0 else { return }
        try database.send(
            LedgerRow.Column.insertion,
            LedgerRow.Column.row([
                .first: .int(first), .count: .int(count), .leaves: .blob(text),
            ])
        )
    }

    func committed() {
        let isNew = page.withLock { page in
            guard page.count > 0 else { return false }
            page.first += page.count
            page.count = 0
            page.text.removeAll(keepingCapacity: true)
            return true
        }
        if isNew { signal.send() }
    }

    func close() { signal.finish() }
}

extension LedgerAppender {
    /// The leaf of a pause or a hold, or of its end; other changes have none here.
    func write(pauseOrResume change: StateChange) {
        switch change {
        case .pauseProvider(let name, let reason, let uid, let time):
            write("paused", [(.provider, .word(name.rawValue))], reason, by: uid, at: time)
        case .pauseStore(let name, let reason, let uid, let time):
            write("paused", [(.store, .word(name.rawValue))], reason, by: uid, at: time)
        case .resumeProvider(let name, let uid, _, let time):
            write("resumed", [(.provider, .word(name.rawValue))], by: uid, at: time)
        case .resumeStore(let name, let uid, _, let time):
            write("resumed", [(.store, .word(name.rawValue))], by: uid, at: time)
        case .placeHold(let hold):
            let name = hold.store.rawValue
            write("store_held", [(.store, .word(name))], hold.name, by: hold.uid, at: hold.since)
        case .liftHold(let hold, let uid, let time):
            let name = hold.store.rawValue
            write("store_released", [(.store, .word(name))], hold.name, by: uid, at: time)
        case .save, .openRecheck, .saveExchange, .storeTokens, .tell, .rotate, .wake,
            .useGuardOverride, .tendRenewals, .beginRenewal, .endRenewal, .reclock,
            .answer:
            break
        }
    }

    /// A leaf that names its event, what it is about and who caused it.
    func write(
        _ event: String,
        _ values: [(LedgerEntry.Key, LedgerEntry.Value)],
        _ detail: String? = nil,
        by uid: UInt32? = nil,
        at time: WallTime
    ) {
        var all = values + [(.event, .word(event))]
        if let detail { all.append((.detail, .word(detail))) }
        if let uid { all.append((.uid, .number(Int64(uid)))) }
        write(time, all)
    }
}
