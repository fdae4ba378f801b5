import Engine
import Lifecycle
import Settings
import Stores

extension AdapterFactory {
    /// Wraps the targets that depend on each other, sources first.
    func connect(
        _ made: [TargetName: any PurgeTarget],
        _ configuration: DaemonConfiguration
    ) -> [TargetName: any PurgeTarget] {
        guard let keys else { return made }
        var connected = made
        var sources: [TargetName: SourceTarget] = [:]
        var keyed: [TargetName: KeyedTarget] = [:]
        for target in configuration.targets {
            let used = target.keys.filter { key in
                configuration.targets.contains { target.has(key, for: $0) }
            }
            if !used.isEmpty, let source = made[target.name] as? any KeySource {
                let wrapped = SourceTarget(
                    source,
                    keys: used.map(\.name),
                    shared: Set(used.filter(\.isShared).map(\.name)),
                    store: keys
                )
                sources[target.name] = wrapped
                connected[target.name] = wrapped
            }
            guard let reference = target.keyedBy, let inner = connected[target.name],
                let source = sources[reference.target]
            else { continue }
            let origin = KeyedTarget.Origin(
                name: KeyName(target: reference.target, key: reference.key),
                isShared: configuration.isShared(reference),
                source: source,
                upstream: keyed[reference.target],
                withoutKeys: target.withoutKeys
            )
            let wrapped = KeyedTarget(inner, origin: origin, store: keys, hasher: hasher)
            keyed[target.name] = wrapped
            connected[target.name] = wrapped
        }
        return connected
    }

    /// What the other targets of the same database, and so of a copy of it, do in it.
    func neighbours(
        of name: TargetName,
        in configuration: DaemonConfiguration
    ) -> SchemaClaims {
        guard let target = configuration.targets.first(where: { $0.name == name }) else {
            return SchemaClaims()
        }
        // A copy is another place of the same store.
        return configuration.targets.compactMap { other -> SchemaClaims? in
            guard other.name != name, let store = target.store as? any TableStore,
                store.sharesDatabase(with: other.store)
            else { return nil }
            return (other.store as? any TableStore)?.claims
        }.reduce(SchemaClaims()) { $0.joined(with: $1) }
    }
}
