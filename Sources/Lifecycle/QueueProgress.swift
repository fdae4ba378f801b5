/// One place where work waits, to be compared with itself later.
package struct QueueProgress: Hashable, Sendable {
    /// Where.
    package enum Place: Hashable, Sendable, CustomStringConvertible {
        case state
        case provider(ProviderName)
        case store(StoreName)

        package var description: String {
            switch self {
            case .state: "state"
            case .provider(let name): "provider \(name)"
            case .store(let name): "store \(name)"
            }
        }
    }

    package let place: Place
    /// Work waits, and neither a pause nor an open breaker nor a full window keeps it.
    package let isDue: Bool
    package let begunCount: Int

    package init(place: Place, isDue: Bool, begunCount: Int) {
        (self.place, self.isDue, self.begunCount) = (place, isDue, begunCount)
    }
}
