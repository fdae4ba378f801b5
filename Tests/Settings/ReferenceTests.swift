import Testing

@testable import Settings

@Suite("The documentation says what the table of settings says")
struct ReferenceTests {
    @Test("the example file is the one that the table generates")
    func exampleFile() throws {
        try ProjectFiles.expect("Config/expunged.toml", is: SettingsReference.exampleFile())
    }

    @Test("the example file with every key commented out gives the defaults of an empty file")
    func exampleFileIsAllDefaults() throws {
        let example = try Sample.load(SettingsReference.exampleFile())
        #expect(try example == Sample.load(""))
    }

    @Test(
        "every general key of the example file means its default when it is uncommented",
        arguments: SettingScope.allCases.filter(\.isSingle)
    )
    func uncommented(scope: SettingScope) throws {
        for setting in SettingsTable.settings(in: scope) where setting.defaultValue != nil {
            let text = "\(scope.header)\n\(setting.name) = \(setting.sample.toml)\n"
            #expect(try Sample.load(text) == Sample.load(""), "\(setting.key)")
        }
    }

    @Test("the example file mentions every key once per section")
    func exampleMentionsEveryKey() {
        let lines = SettingsReference.exampleFile().split(separator: "\n")
        let keys = lines.filter { $0.hasPrefix("#") && !$0.hasPrefix("# ") && $0.contains(" = ") }
        #expect(keys.count == SettingsTable.all.count)
    }

    @Test("expunged.conf(5) has the entry of every setting, and no other")
    func manual() throws {
        let path = "docs/man/expunged.conf.5"
        var page = try ProjectFiles.text(path)
        for scope in SettingScope.allCases {
            let heading = ".Ss \(scope.header)\n"
            let section = try #require(page.firstRange(of: heading), "no section \(heading)")
            let list = page[section.upperBound...]
            let start = try #require(list.firstRange(of: ".Bl -tag -width Ds\n")).upperBound
            let end = try #require(list.firstRange(of: ".El\n")).lowerBound
            let entries = SettingsTable.settings(in: scope).map(SettingsReference.manualEntry)
            page.replaceSubrange(start..<end, with: entries.joined())
        }
        try ProjectFiles.expect(path, is: page)
    }

    @Test("keys are unique within a section and a kind, and written in lower case")
    func keys() {
        let keys = SettingsTable.all.map { "\($0.key) \($0.family ?? "")" }
        #expect(Set(keys).count == keys.count)
        let common = Set(SettingsTable.all.filter { $0.family == nil }.map(\.key))
        #expect(!SettingsTable.all.contains { $0.family != nil && common.contains($0.key) })
        for setting in SettingsTable.all {
            let letters = Set("abcdefghijklmnopqrstuvwxyz0123456789_")
            #expect(setting.name.allSatisfy(letters.contains), "\(setting.key)")
        }
    }

    @Test("every default and example passes the rule of its own key")
    func samplesAreGood() {
        for setting in SettingsTable.all {
            let place = SectionPlace(scope: setting.scope, path: [], label: "x")
            var log = ProblemLog(file: "t", locations: KeyLocations())
            let node = Self.node(setting.sample)
            let section = SectionReader(place: place, family: setting.family)
                .read([setting.name: node], log: &log)
            #expect(section.values[setting.name] == setting.sample, "\(setting.key)")
        }
    }

    private static func node(_ value: SettingValue) -> TOMLNode {
        switch value {
        case .text(let text): .text(text)
        case .texts(let texts): .array(texts.map(TOMLNode.text))
        case .map(let entries): .table(entries.mapValues(TOMLNode.text))
        case .duration(let duration): .text(DurationText.format(duration))
        case .count(let count): .integer(count)
        case .boolean(let value): .boolean(value)
        }
    }
}
