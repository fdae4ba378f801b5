/// Rows that name a key are the user's data: whenever keys are read after the source was purged,
/// the source is purged and verified again, and after it what it keys.
extension Request {
    func storesWaitingForKeys(_ environment: Environment) -> [StoreName] {
        purges.filter { $0.waitsForKeys(environment) }.map(\.store)
    }

    /// Rows that name these keys may name others: all of the same source is purged again.
    mutating func lookForKeys(of stores: [StoreName], _ environment: Environment) {
        guard !stores.isEmpty else { return }
        let roots = Set(stores.map { environment.keyChain(of: $0).last ?? $0 })
        for index in purges.indices {
            let store = purges[index].store
            if stores.contains(store) { purges[index].lookAgain() }
            guard roots.contains(environment.keyChain(of: store).last ?? store) else { continue }
            purges[index].purgeAgain(upTo: nil)
        }
    }

    /// The source is purged again; a store that has keys finds new ones when it is verified.
    mutating func lookForKeys(in source: StoreName, _ environment: Environment) {
        guard !environment.keySources.isEmpty else { return }
        for index in purges.indices where purges[index].counts.isWithoutAnyKey {
            guard environment.keyChain(of: purges[index].store).contains(source) else { continue }
            purges[index].purgeAgain(upTo: nil)
        }
    }
}

extension Environment {
    /// The stores through whose rows a key leads into a store, next one first.
    fileprivate func keyChain(of store: StoreName) -> [StoreName] {
        var chain: [StoreName] = []
        var next = keySources[store]
        while let source = next {
            chain.append(source)
            next = keySources[source]
        }
        return chain
    }
}
