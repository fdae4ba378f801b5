import CExecutor
import Encoding
import Glibc

/// The threads that run tasks: a small pool of our own, or the executor of the Swift runtime.
enum TaskThreads {
    enum Choice: String {
        case pool
        /// About two wake-ups a second more while idle.
        case stock
    }

    static let variable = "EXPUNGED_EXECUTOR"

    /// The pool takes over internal hooks of the runtime, so only on versions that were tested.
    #if compiler(>=6.3) && compiler(<6.4)
    private static let isRuntimeVerified = true
    #else
    private static let isRuntimeVerified = false
    #endif

    /// One more than a thread that is busy for long.
    private static let threadCountMin = 2
    /// Calls wait in event loops and databases in queues; tasks alone never need more.
    private static let threadCountMax = 8

    /// Installs the pool where it can be used; call it before the first task.
    @discardableResult static func install(environment: [String: String]) throws -> Choice {
        let named = environment[variable] ?? (isRuntimeVerified ? Choice.pool : .stock).rawValue
        guard let choice = Choice(rawValue: named) else {
            throw DaemonError(
                .usage,
                "\(variable) is '\(named)': give 'pool' or 'stock', or leave it unset"
            )
        }
        guard choice == .pool else { return .stock }
        let processorCount = sysconf(Int32(_SC_NPROCESSORS_ONLN))
        let answer = cexecutor_install(
            Int32(min(max(processorCount, threadCountMin), threadCountMax))
        )
        if answer == -ENOSYS { return .stock }
        guard answer == 0 else {
            let cause = ErrorNumber(-answer)
            throw DaemonError(.state, "cannot start threads (no_resources): \(cause)")
        }
        return .pool
    }
}
