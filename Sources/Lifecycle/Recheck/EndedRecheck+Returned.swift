extension EndedRecheck {
    /// Since when data is known to have returned; `known` is what the record says so far.
    ///
    /// The first time stays until a recheck finds nothing.
    package func returnedSince(_ known: WallTime?) -> WallTime? {
        guard let recheck else { return known }
        return switch recheck.outcome {
        case .returned: known ?? recheck.at
        case .clean: nil
        case .unverified, .unreadable, .abandoned: known
        }
    }
}
