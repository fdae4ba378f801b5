import Encoding
import Stores
import Testing

@testable import Daemon
@testable import Settings

@Suite("The documentation says what the table of settings says")
struct ReferenceTests {
    @Test("the example file is the one that the table generates")
    func exampleFile() throws {
        let example = SettingsReference.exampleFile(Kinds.table)
        try ProjectFiles.expect("Config/examples/complete.toml", is: example)
    }

    @Test("the example file with every key commented out gives the defaults of an empty file")
    func exampleFileIsAllDefaults() throws {
        let example = try Sample.load(SettingsReference.exampleFile(Kinds.table))
        #expect(try example == Sample.load(""))
    }

    @Test(
        "every general key of the example file means its default when it is uncommented",
        arguments: SettingScope.allCases.filter(\.isSingle)
    )
    func uncommented(scope: SettingScope) throws {
        for setting in Kinds.table.settings(in: scope) where setting.defaultValue != nil {
            let text = "\(scope.header)\n\(setting.name) = \(setting.sample.toml)\n"
            #expect(try Sample.load(text) == Sample.load(""), "\(setting.key)")
        }
    }

    @Test("the example file mentions every key once per section")
    func exampleMentionsEveryKey() {
        let lines = SettingsReference.exampleFile(Kinds.table).split(separator: "\n")
        let keys = lines.filter { $0.hasPrefix("#") && !$0.hasPrefix("# ") && $0.contains(" = ") }
        #expect(keys.count == Kinds.table.all.count)
    }

    @Test("the installed file is short, changes no default, and loads when it is uncommented")
    func installedFile() throws {
        let text = try ProjectFiles.text("Config/expunged.toml")
        #expect(text.split(separator: "\n", omittingEmptySubsequences: false).count <= 60)
        #expect(try Sample.load(text) == Sample.load(""))
        let lines = text.split(separator: "\n").map { line in
            line.hasPrefix("#") && !line.hasPrefix("# ") ? line.dropFirst() : line
        }
        let uncommented = try Sample.load(lines.joined(separator: "\n"))
        #expect(uncommented.providers.count == 1 && uncommented.stores.count == 1)
    }

    @Test("expunged.conf(5) has the entry of every setting and type of text, and no other")
    func manual() throws {
        let path = "docs/man/expunged.conf.5"
        var page = try ProjectFiles.text(path)
        let lists = SettingsReference.manualLists(Kinds.table)
        for list in lists {
            let heading = ".Ss \(list.heading)\n"
            let section = try #require(page.firstRange(of: heading), "no section \(heading)")
            let rest = page[section.upperBound...]
            let start = try #require(rest.firstRange(of: ".Bl -tag -width Ds\n")).upperBound
            let end = try #require(page[start...].firstRange(of: ".El\n")).lowerBound
            page.replaceSubrange(start..<end, with: list.items.joined())
        }
        try ProjectFiles.expect(path, is: page)
        let keys = lists.flatMap(\.items).count { $0.hasPrefix(".It Cm ") }
        #expect(page.split(separator: "\n").count { $0.hasPrefix(".It Cm ") } == keys)
    }

    @Test("sections of kinds stand in expunged.conf(5) in the order of the kinds")
    func order() throws {
        let page = try ProjectFiles.text("docs/man/expunged.conf.5")
        let kinds: [(SettingScope, [any SectionKind.Type])] = [
            (.provider, Kinds.providers), (.store, Kinds.stores), (.queue, Kinds.queues),
        ]
        for (scope, kinds) in kinds {
            let places = kinds.compactMap { kind in
                page.firstRange(of: ".Ss \(scope.header) of kind \\(dq\(kind.name)\\(dq\n")
            }.map(\.lowerBound)
            #expect(places.count > 1 && places == places.sorted(), "\(scope.header)")
        }
    }

    @Test("every section of expunged.conf(5) begins with what it is for, and names its sockets")
    func introductions() throws {
        let page = try ProjectFiles.text("docs/man/expunged.conf.5")
        for scope in SettingScope.allCases {
            let heading = ".Ss \(scope.header)\\&\n"
            let section = try #require(page.firstRange(of: heading), "\(scope.header)")
            #expect(!page[section.upperBound...].hasPrefix(".Bl"), "\(scope.header)")
        }
        for name in ["control", "submit", "viewer"] {
            let unit = try ProjectFiles.text("systemd/expunged-\(name).socket")
            #expect(unit.contains("/\(name).sock\n"))
            #expect(SettingScope.server.documentation.contains("\(name).sock"))
        }
    }

    @Test("keys are unique within a section and a kind, and written in lower case")
    func keys() {
        let keys = Kinds.table.all.map { "\($0.key) \($0.kind ?? "")" }
        #expect(Set(keys).count == keys.count)
        let common = Set(Kinds.table.all.filter { $0.kind == nil }.map(\.key))
        #expect(!Kinds.table.all.contains { $0.kind != nil && common.contains($0.key) })
        for setting in Kinds.table.all {
            let letters = Set("abcdefghijklmnopqrstuvwxyz0123456789_")
            #expect(setting.name.allSatisfy(letters.contains), "\(setting.key)")
        }
    }

    @Test("every default and example passes the rule of its own key")
    func samplesAreGood() {
        for setting in Kinds.table.all {
            let place = SectionPlace(scope: setting.scope, path: [], label: "x")
            var log = ProblemLog(file: "t", locations: KeyLocations())
            let node = Self.node(setting.sample)
            let section = SectionReader(place: place, table: Kinds.table, kind: setting.kind)
                .read([setting.name: node], log: &log)
            #expect(section.values[setting.name] == setting.sample, "\(setting.key)")
        }
    }

    private static func node(_ json: JSONValue) -> TOMLNode {
        switch json {
        case .null, .number: .other("nothing of TOML")
        case .bool(let value): .boolean(value)
        case .integer(let number): .integer(Int(number))
        case .string(let text): .text(text)
        case .array(let items): .array(items.map(Self.node))
        case .object(let members):
            .table(
                Dictionary(members.map { ($0.name, Self.node($0.value)) }) { first, _ in first }
            )
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
        case .numbers(let numbers): .array(numbers.map(TOMLNode.integer))
        case .json(let json): Self.node(json)
        }
    }
}
