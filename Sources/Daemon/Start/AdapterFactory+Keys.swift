import Engine
import Lifecycle
import Settings
import Stores

extension AdapterFactory {
    /// Puts the targets that depend on each other together, sources first.
    ///
    /// - Parameters:
    ///   - made: Each by itself.
    ///   - configuration: What is keyed by what; sources stand before what they key.
    /// - Returns: What the engine calls.
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

    /// What the other targets of the same database do in it, and so in a copy of it.
    func neighbours(
        of name: TargetName,
        in configuration: DaemonConfiguration
    ) -> SchemaClaims {
        guard let target = configuration.targets.first(where: { $0.name == name }) else {
            return SchemaClaims()
        }
        return configuration.targets.filter { other in
            guard other.name != name else { return false }
            switch (target.kind, other.kind) {
            case (.sqlite(let one), .sqlite(let two)): return one.path == two.path
            case (.postgresql(let one), .postgresql(let two)):
                return one.conninfoCredential == two.conninfoCredential
            default: return false
            }
        }.reduce(SchemaClaims()) { claims, other in
            SchemaClaims(
                rules: claims.rules + other.kind.tables.map(TableRule.init),
                keys: claims.keys + other.keys.map(KeyRule.init)
            )
        }
    }
}

extension KeyRule {
    /// The same key in the words of the target.
    init(_ key: KeyConfiguration) {
        self.init(
            name: key.name,
            user: TableRule(
                table: key.table,
                column: key.column,
                idType: Stores.IDType(key.idType),
                action: .keep,
                creation: key.createdAt.map(CreationColumn.init)
            ),
            value: key.value,
            valueType: Stores.IDType(key.valueType),
            isShared: key.isShared
        )
    }
}

extension Stores.IDType {
    init(_ type: TableConfiguration.IDType) {
        switch type {
        case .text: self = .text
        case .integer: self = .integer
        case .blob: self = .blob
        case .uuid: self = .uuid
        }
    }
}

extension CreationColumn {
    init(_ column: CreatedAtColumn) {
        let unit: Unit =
            switch column.unit {
            case .unixSeconds: .unixSeconds
            case .unixMilliseconds: .unixMilliseconds
            case .iso8601: .iso8601
            case .timestamp: .timestamp
            }
        self.init(column: column.column, unit: unit)
    }
}
