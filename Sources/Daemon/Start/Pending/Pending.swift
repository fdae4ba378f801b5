import Synchronization

/// What is made once its files can be read, and then kept.
final class Pending<Made: Sendable>: Sendable {
    private let make: @Sendable () async throws -> Made
    private let discard: @Sendable (Made) async -> Void
    private let made = Mutex<Made?>(nil)

    /// - Parameters:
    ///   - discard: Shuts one down.
    ///   - make: Tries to make it.
    init(
        discard: @escaping @Sendable (Made) async -> Void,
        make: @escaping @Sendable () async throws -> Made
    ) {
        self.discard = discard
        self.make = make
    }

    /// `nil` until it could be made.
    var value: Made? { made.withLock { $0 } }

    /// Makes it, unless that was done before; two that try at once keep the first one's.
    ///
    /// - Returns: Why it cannot be made; `nil` once it is.
    func setUp() async -> String? {
        guard value == nil else { return nil }
        let new: Made
        do {
            new = try await make()
        } catch {
            return "\(error)"
        }
        let isFirst = made.withLock { made in
            guard made == nil else { return false }
            made = new
            return true
        }
        if !isFirst { await discard(new) }
        return nil
    }

    /// Shuts it down, if there is one.
    func shutdown() async {
        if let value { await discard(value) }
    }
}
