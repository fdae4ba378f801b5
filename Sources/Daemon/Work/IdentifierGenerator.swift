import Lifecycle

struct IdentifierGenerator: Sendable {
    let now: @Sendable () -> WallTime

    func requestID() -> RequestID { RequestID(timeOrdered()) }

    func identityID() -> IdentityID { IdentityID(timeOrdered()) }

    /// Sixteen random bytes that bind a sealed value to its row.
    func rowNonce() -> [UInt8] {
        var generator = SystemRandomNumberGenerator()
        return (0..<2).flatMap { _ in
            let word = generator.next() as UInt64
            return (0..<8).map { UInt8(truncatingIfNeeded: word >> (UInt64($0) * 8)) }
        }
    }

    private func timeOrdered() -> TimeOrderedID {
        var generator = SystemRandomNumberGenerator()
        return TimeOrderedID(at: now(), entropy: &generator)
    }
}
