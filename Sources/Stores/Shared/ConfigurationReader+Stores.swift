import Lifecycle
package import Settings

extension ConfigurationReader {
    /// Reads `[[store]]`; each store stands behind the one whose rows hold its ids.
    package mutating func readStores() -> [StoreConfiguration] {
        var stores: [StoreConfiguration] = []
        var places: [SectionPlace] = []
        var lines: [String: Int] = [:]
        for var section in named(.store) {
            let made = (section.kind as? any StoreKind.Type).map { kind in
                read(&section) { section, problems in
                    checkCommon(section, kind.traits, &problems)
                    checkUnique(section, kind, &lines, &problems)
                    return StoreConfiguration(section, kind.init(&section, &problems))
                }
            }
            append(section)
            guard let made else { continue }
            stores.append(made)
            places.append(section.place)
        }
        checkAccountsComeLast(stores, places)
        checkKeys(stores, places)
        return Self.sourcesFirst(stores)
    }

    /// The order in the file is that of the work (``StoreTraits/goesLast``).
    private mutating func checkAccountsComeLast(
        _ stores: [StoreConfiguration],
        _ places: [SectionPlace]
    ) {
        let isAccount = stores.map(\.traits.goesLast)
        for index in stores.indices where isAccount[index] && isAccount[index...].contains(false) {
            let cause = "accounts are deleted last: put this store behind the others"
            log.report(.contradiction, "kind", in: places[index], value: stores[index].kind, cause)
        }
    }

    /// Every `keyed_by` leads to a key, and none back to where it came from.
    private mutating func checkKeys(
        _ stores: [StoreConfiguration],
        _ places: [SectionPlace]
    ) {
        for (store, place) in zip(stores, places) {
            guard let reference = store.keyedBy,
                let (kind, cause) = Self.problem(of: reference, in: store, among: stores)
            else { continue }
            log.report(kind, "keyed_by", in: place, value: reference.description, cause)
        }
    }

    private static func problem(
        of reference: KeyReference,
        in store: StoreConfiguration,
        among stores: [StoreConfiguration]
    ) -> (ConfigurationProblem.Kind, String)? {
        guard let source = stores.first(where: { $0.name == reference.store }) else {
            let near = near(reference.store.rawValue, in: stores.map(\.name.rawValue))
            return (.unknownValue, "there is no store '\(reference.store)'" + near)
        }
        let place = "store '\(source.name)'"
        guard source.settings is any TableKind else {
            return (.contradiction, place + " is no database, so it has no rows with ids")
        }
        guard source.keys.contains(where: { $0.name == reference.key }) else {
            let near = near(reference.key, in: source.keys.map(\.name))
            return (.unknownValue, place + " has no key '\(reference.key)'" + near)
        }
        guard let circle = Self.circle(from: store, among: stores) else { return nil }
        return (.contradiction, "the ids lead in a circle: " + circle.joined(separator: ", "))
    }

    private static func near(_ name: String, in names: [String]) -> String {
        NearestName.find(name, in: names).map { "; did you mean '\($0)'?" } ?? ""
    }

    /// The names on the way back to a store; `nil` when the way ends.
    private static func circle(
        from store: StoreConfiguration,
        among stores: [StoreConfiguration]
    ) -> [String]? {
        var names = [store.name.rawValue]
        var place = store
        while let next = place.keyedBy.flatMap({ key in stores.first { $0.name == key.store } }) {
            names.append(next.name.rawValue)
            if next.name == store.name { return names }
            // A circle that it only leads into is told where it is.
            guard names.count <= stores.count else { return nil }
            place = next
        }
        return nil
    }

    /// Each store behind the one whose rows hold its ids, else in the order of the file.
    ///
    /// Accounts stay last: nothing is keyed by them.
    private static func sourcesFirst(_ stores: [StoreConfiguration]) -> [StoreConfiguration] {
        var rest = stores
        var sorted: [StoreConfiguration] = []
        while !rest.isEmpty {
            let next = rest.firstIndex { store in
                !rest.contains { $0.name == store.keyedBy?.store }
            }
            // A circle is a problem that is reported.
            sorted.append(rest.remove(at: next ?? 0))
        }
        return sorted
    }
}

/// What holds for every kind.
private func checkCommon(
    _ section: SettingsSection,
    _ traits: StoreTraits,
    _ problems: inout SectionProblems
) {
    let kind = section.kindName ?? ""
    if traits.residualCopies == nil, section.values["residual_copies_kept"] != nil {
        let cause = "a store of kind \"\(kind)\" reports itself what it keeps"
        problems.report(.contradiction, "residual_copies_kept", cause)
    }
    if section.values["without_keys"] != nil, section.values["keyed_by"] == nil {
        problems.report(
            .contradiction,
            "without_keys",
            "without keyed_by no keys are searched for"
        )
    }
    if !(section.kind is any TableKind.Type), problems.isWritten("key") {
        problems.report(
            .contradiction,
            "key",
            "only a database has rows in which ids for other stores are found; kind is"
                + " \"\(kind)\""
        )
    }
}

private func checkUnique(
    _ section: SettingsSection,
    _ kind: any StoreKind.Type,
    _ lines: inout [String: Int],
    _ problems: inout SectionProblems
) {
    guard let key = kind.traits.uniqueKey, let value = section.text(key) else { return }
    // Rows that are found by other ids are another store's.
    let use = "\(value)\u{0}\(section.text("keyed_by") ?? "")"
    if let first = lines[use] {
        let cause = "the store of line \(first) has the same file; put the tables there"
        problems.report(.duplicate, key, value: value, cause)
    }
    lines[use] = lines[use] ?? problems.line(key)
}

extension SectionProblems {
    /// Reports tables below a store that has none.
    mutating func refuseTables(_ cause: String) {
        if isWritten("table") { report(.contradiction, "table", cause) }
    }
}
