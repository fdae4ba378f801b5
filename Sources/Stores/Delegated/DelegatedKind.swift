import Settings

/// A store that only the operator's own program or service knows, and its copies by their names.
protocol DelegatedKind: DrillCopying {
    /// What the operator calls a copy of the store; only of a copy.
    var copy: String? { get set }
}

extension DelegatedKind {
    /// The program or service gets the cutoff and leaves newer data alone.
    package var cutoff: StoreCutoff { .everything }

    package func copy(at place: String) throws(NoStoreCopy) -> Self {
        var copy = self
        copy.copy = try TextRule.sentence.check(place)
        return copy
    }

    package func overlaps(_ other: any StoreKind, _ environment: StoreEnvironment) -> Bool {
        false
    }
}
