import Lifecycle

/// Ids that are found in one store and used in another.
extension ConfigurationReader {
    /// The `[[target.key]]` sections of a target.
    mutating func readKeys(
        _ node: TOMLNode?,
        _ kind: TargetKind,
        of parent: SectionPlace
    ) -> [KeyConfiguration] {
        guard let node else { return [] }
        guard kind.hasRows else {
            log.report(
                .contradiction,
                "key",
                in: parent,
                "only a database has rows in which ids for other targets are found; kind is"
                    + " \"\(kind.family.rawValue)\""
            )
            return []
        }
        let found = repeated(
            .key,
            in: node,
            at: parent.path(of: "key"),
            key: parent.key("key")
        )
        var lines: [String: Int] = [:]
        var keys: [KeyConfiguration] = []
        for (index, (entries, path)) in found.enumerated() {
            let place = SectionPlace(
                scope: .key,
                path: path,
                label: "\(parent.label).key[\(index)]"
            )
            var section = SectionReader(place: place, family: nil).read(entries, log: &log)
            let key = key(&section, kind.tables, at: place)
            append(section)
            if let name = section.text("name") {
                if let first = lines[name] {
                    log.report(
                        .duplicate,
                        "name",
                        in: place,
                        value: name,
                        "line \(first) has the same name; keys of a target have names of their own"
                    )
                }
                lines[name] = lines[name] ?? log.locations.line(of: place.path(of: "name"))
            }
            keys.append(key)
        }
        return keys
    }

    /// Takes over what a rule says of the same column.
    private mutating func key(
        _ section: inout SettingsSection,
        _ tables: [TableConfiguration],
        at place: SectionPlace
    ) -> KeyConfiguration {
        let (table, column) = (section.text("table") ?? "", section.text("column") ?? "")
        let rule = tables.first {
            $0.table.lowercased() == table.lowercased()
                && $0.column.lowercased() == column.lowercased()
        }
        var idType: TableConfiguration.IDType = section.choice("id_type") ?? .text
        var creation = createdAt(section, at: place)
        let isShared = section.flag("shared")
        if let rule {
            checkSame("id_type", idType == rule.idType, at: place)
            checkSame("created_at_column", creation == rule.createdAt, at: place)
            (idType, creation) = (rule.idType, rule.createdAt)
            section.values["id_type"] = .text(idType.rawValue)
            if isShared, rule.action != .delete {
                log.report(
                    .contradiction,
                    "shared",
                    in: place,
                    "action \"\(rule.action.name.rawValue)\" leaves the rows, so that no id would"
                        + " ever be without owners"
                )
            }
        }
        return KeyConfiguration(
            name: section.text("name") ?? "",
            table: table,
            column: column,
            idType: idType,
            value: section.text("value") ?? "",
            valueType: section.choice("value_type") ?? .text,
            isShared: isShared,
            createdAt: creation
        )
    }

    /// A default says nothing, a key that is written must agree.
    private mutating func checkSame(_ name: String, _ isSame: Bool, at place: SectionPlace) {
        guard !isSame, log.locations.isWritten(place.path(of: name)) else { return }
        log.report(
            .contradiction,
            name,
            in: place,
            "the [[target.table]] of the same table and column says otherwise"
        )
    }

    // MARK: References

    /// Every `keyed_by` leads to a key, and none back to where it came from.
    mutating func checkKeys(_ targets: [TargetConfiguration], _ places: [SectionPlace]) {
        for (target, place) in zip(targets, places) {
            guard let reference = target.keyedBy else { continue }
            guard let source = targets.first(where: { $0.name == reference.target }) else {
                report(
                    reference,
                    at: place,
                    "there is no target '\(reference.target)'",
                    nearest: reference.target.rawValue,
                    in: targets.map(\.name.rawValue)
                )
                continue
            }
            guard source.kind.hasRows else {
                log.report(
                    .contradiction,
                    "keyed_by",
                    in: place,
                    value: reference.description,
                    "target '\(source.name)' is no database, so it has no rows with ids"
                )
                continue
            }
            guard source.keys.contains(where: { $0.name == reference.key }) else {
                report(
                    reference,
                    at: place,
                    "target '\(source.name)' has no key '\(reference.key)'",
                    nearest: reference.key,
                    in: source.keys.map(\.name)
                )
                continue
            }
            if let circle = Self.circle(from: target, among: targets) {
                log.report(
                    .contradiction,
                    "keyed_by",
                    in: place,
                    value: reference.description,
                    "the ids lead in a circle: " + circle.joined(separator: ", ")
                )
            }
        }
    }

    private mutating func report(
        _ reference: KeyReference,
        at place: SectionPlace,
        _ cause: String,
        nearest name: String,
        in names: [String]
    ) {
        let near = NearestName.find(name, in: names).map { "; did you mean '\($0)'?" } ?? ""
        log.report(
            .unknownValue,
            "keyed_by",
            in: place,
            value: reference.description,
            cause + near
        )
    }

    /// The names on the way back to a target; `nil` when the way ends.
    private static func circle(
        from target: TargetConfiguration,
        among targets: [TargetConfiguration]
    ) -> [String]? {
        var names = [target.name.rawValue]
        var place = target
        while let next = place.keyedBy.flatMap({ key in targets.first { $0.name == key.target } }) {
            names.append(next.name.rawValue)
            if next.name == target.name { return names }
            // A circle that it only leads into is told where it is.
            guard names.count <= targets.count else { return nil }
            place = next
        }
        return nil
    }

    /// Each target behind the one whose rows hold its ids, else in the order of the file.
    ///
    /// Accounts stay last: nothing is keyed by them.
    static func sourcesFirst(_ targets: [TargetConfiguration]) -> [TargetConfiguration] {
        var rest = targets
        var sorted: [TargetConfiguration] = []
        while !rest.isEmpty {
            let next = rest.firstIndex { target in
                !rest.contains { $0.name == target.keyedBy?.target }
            }
            // A circle is a problem that is reported.
            sorted.append(rest.remove(at: next ?? 0))
        }
        return sorted
    }
}

extension TargetKind {
    /// Whether ids for other targets can be found in it.
    var hasRows: Bool {
        switch self {
        case .sqlite, .postgresql: true
        case .files, .redis, .command, .webhook, .s3, .cloudStorage, .firestore,
            .realtimeDatabase, .firebaseAuth:
            false
        }
    }
}
