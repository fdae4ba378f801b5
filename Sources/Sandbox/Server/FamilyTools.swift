import Glibc
import Synchronization

/// What every family gets from the sandbox.
struct FamilyTools: Sendable {
    let clock: SandboxClock
    let journal: CallJournal
    let address: SandboxAddress
    /// The number of grants, and of codes and tokens, that a family keeps.
    let capacity: Int

    var book: GrantBook { GrantBook(capacity: capacity) }
    var state: BookState { BookState(book: book) }
}

/// Where the sandbox is reached, once it listens: discovery documents and issuers name it.
final class SandboxAddress: Sendable {
    private let text = Mutex("")

    var baseURL: String { text.withLock { $0 } }

    func set(_ baseURL: String) { text.withLock { $0 = baseURL } }
}

/// The sandbox's idea of the time: the machine's wall clock and an offset that tests move.
final class SandboxClock: Sendable {
    private let source: @Sendable () -> Int64
    private let offset = Mutex<Int64>(0)

    init(source: @escaping @Sendable () -> Int64) { self.source = source }

    var nowMilliseconds: Int64 { source() + offset.withLock { $0 } }

    var nowSeconds: Int64 { nowMilliseconds / 1000 }

    func setOffset(milliseconds: Int64) { offset.withLock { $0 = milliseconds } }

    /// The machine's wall clock in Unix milliseconds (clock_gettime(2), CLOCK_REALTIME).
    static func wallMilliseconds() -> Int64 {
        var time = timespec()
        _ = unsafe clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
    }
}
