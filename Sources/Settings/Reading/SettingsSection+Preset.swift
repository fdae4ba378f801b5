extension SettingsSection {
    /// Takes from another text what this section leaves out: values, and groups of sections below.
    ///
    /// - Parameters:
    ///   - text: One section of the same scope and kind, in the language of the configuration.
    ///   - name: What messages call the text.
    ///   - table: The keys of the section.
    /// - Throws: ``ConfigurationError`` with the problems of the text.
    package mutating func fill(
        from text: String,
        named name: String,
        _ table: SettingsTable
    ) throws(ConfigurationError) {
        var reader = try ConfigurationLoader.open(Array(text.utf8), file: name, table: table)
        let found = reader.named(scope)
        try reader.finish()
        guard let preset = found.first else { return }
        for (key, value) in preset.values where values[key] == nil { values[key] = value }
        let own = Set(children.map(\.groupName))
        for var child in preset.children where !own.contains(child.groupName) {
            child.place = child.place.moved(from: preset.place, to: place)
            children.append(child)
        }
    }
}

extension SectionPlace {
    /// The place of a section below `parent`, as if it were below another one.
    fileprivate func moved(from parent: SectionPlace, to other: SectionPlace) -> SectionPlace {
        SectionPlace(
            scope: scope,
            path: other.path + path.dropFirst(parent.path.count),
            label: other.label + label.dropFirst(parent.label.count)
        )
    }
}
