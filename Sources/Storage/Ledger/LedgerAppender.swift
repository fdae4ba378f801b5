import GRDB
import Ledger
import Synchronization

/// Collects the leaves of one commit and writes them as one row, in that commit.
///
/// A leaf costs no statement of its own and no hash: the tree is built behind the writer, from what
/// was committed. The appender is used on the writer's queue alone; the lock is for the compiler.
package final class LedgerAppender: Sendable {
    /// How far the batch was at one moment.
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
    private let signal: AsyncStream<Void>.Continuation
    /// Tells that leaves were committed; one signal may stand for many commits.
    let signals: AsyncStream<Void>

    /// - Parameter first: The number of leaves in the database.
    init(first: Int) {
        page = Mutex(Page(first: first))
        (signals, signal) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// What requests end under from now on; `nil` before any configuration is in force.
    var scope: EnforcedScope? {
        get { enforced.withLock { $0 } }
        set { enforced.withLock { $0 = newValue } }
    }

    var size: Int { page.withLock { $0.first } }

    /// Adds a leaf to the commit under way.
    ///
    /// - Returns: The leaf's index, if the commit happens.
    @discardableResult
    func write(_ entry: LedgerEntry?) -> Int {
        // An entry is `nil` only for a word that its maker did not make plain.
        guard let entry else { preconditionFailure("a ledger entry has a word that is none") }
        return page.withLock { page in
            if page.count > 0 { page.text.append(UInt8(ascii: "\n")) }
            page.text += entry.bytes
            defer { page.count += 1 }
            return page.first + page.count
        }
    }

    var mark: Mark { page.withLock { Mark(count: $0.count, byteCount: $0.text.count) } }

    /// Takes back what was written since.
    func goBack(to mark: Mark) {
        page.withLock { page in
            page.count = mark.count
            page.text.removeLast(page.text.count - mark.byteCount)
        }
    }

    /// Begins a commit; what an earlier one left that did not happen is dropped.
    func begin() {
        page.withLock { page in
            page.count = 0
            page.text.removeAll(keepingCapacity: true)
        }
    }

    /// Writes the row, as the last statement of the commit.
    func flush(_ database: Database) throws {
        let (first, count, text) = page.withLock { ($0.first, $0.count, $0.text) }
        guard count > 0 else { return }
        try database.run(
            "INSERT INTO ledger (first, count, leaves) VALUES (?, ?, ?)",
            [.int(first), .int(count), .blob(text)]
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
        if isNew { signal.yield() }
    }

    func close() { signal.finish() }
}
