/// Stores without a key, when the rows of their source are read again.
///
/// Rows that name a key are the user's data. So whenever keys are read after the source was purged,
/// the source is purged and verified again, and after it what it keys.
extension Request {
    /// The stores that an operator has to decide about.
    func targetsWaitingForKeys(_ environment: Environment) -> [TargetName] {
        purges.filter { $0.waitsForKeys(environment) }.map(\.target)
    }

    /// Has keys into stores looked for again.
    ///
    /// The rows that name them may name keys of other stores, too: all that hangs on the same
    /// source is purged and verified again.
    ///
    /// - Parameters:
    ///   - targets: The stores.
    ///   - environment: What is keyed by what.
    mutating func lookForKeys(of targets: [TargetName], _ environment: Environment) {
        guard !targets.isEmpty else { return }
        let roots = Set(targets.map { environment.keyChain(of: $0).last ?? $0 })
        for index in purges.indices {
            let target = purges[index].target
            if targets.contains(target) { purges[index].lookAgain() }
            guard roots.contains(environment.keyChain(of: target).last ?? target) else { continue }
            purges[index].purgeAgain(upTo: nil)
        }
    }

    /// Has keys looked for again that rows name which came up in a source since its purge.
    ///
    /// The source is purged again; a store that has keys finds new ones when it is verified.
    ///
    /// - Parameters:
    ///   - source: Where rows were found.
    ///   - environment: What is keyed by what.
    mutating func lookForKeys(in source: TargetName, _ environment: Environment) {
        guard !environment.keySources.isEmpty else { return }
        for index in purges.indices where purges[index].counts.isNotLookedFor {
            guard environment.keyChain(of: purges[index].target).contains(source) else { continue }
            purges[index].purgeAgain(upTo: nil)
        }
    }
}

extension Environment {
    /// The targets through whose rows a key leads into a target, next one first.
    fileprivate func keyChain(of target: TargetName) -> [TargetName] {
        var chain: [TargetName] = []
        var next = keySources[target]
        while let source = next {
            chain.append(source)
            next = keySources[source]
        }
        return chain
    }
}
