/// A step of the start, which can end it; no error leaves the start otherwise.
///
/// The start runs each (``run(_:)``), and ``SystemCheck`` examines each.
enum StartStep: CaseIterable, Sendable {
    case directories, state
    /// The configuration's file is there if the service has erased by it.
    case configuration
    case hashKey, ledger, vault
    /// Providers, stores and queues.
    case adapters
    case sockets

    func run<T>(_ body: () async throws -> T) async throws(StartProblem) -> T {
        do { return try await body() } catch { throw StartProblem(error: error) }
    }
}

/// Why a start ended.
struct StartProblem: Error, CustomStringConvertible {
    let error: any Error
    var description: String { "\(error)" }
}
