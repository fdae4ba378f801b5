/// Rows that name a key are the user's data: whenever keys are read after the source was purged,
/// the source is purged and verified again, and after it what it keys.
extension Request {
    func targetsWaitingForKeys(_ environment: Environment) -> [TargetName] {
        purges.filter { $0.waitsForKeys(environment) }.map(\.target)
    }

    /// Rows that name these keys may name others: all of the same source is purged again.
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

    /// The source is purged again; a store that has keys finds new ones when it is verified.
    mutating func lookForKeys(in source: TargetName, _ environment: Environment) {
        guard !environment.keySources.isEmpty else { return }
        for index in purges.indices where purges[index].counts.isWithoutAnyKey {
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
