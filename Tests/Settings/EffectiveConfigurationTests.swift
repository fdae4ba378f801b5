import Testing

@testable import Daemon
@testable import Settings

@Suite("The configuration in force is shown")
struct EffectiveConfigurationTests {
    private static let text =
        Sample.store + """
            [[store.table]]
            table = "bills"
            column = "buyer"
            action = "delete"
            [store.table.where.state]
            equals = "canary-value-01234567"
            [mail]
            from = "ann@example.com"
            [vault]
            key_credential = "canary-key-01234567"
            [[subscriber]]
            name = "chat"
            url = "https://chat.example.com:8443/hooks/canary-token-01234567"
            secret_credential = "canary-secret-01234567"
            ca_file = "/home/canary-user/ca.pem"

            """

    private static func render(
        isComplete: Bool = true,
        isShareable: Bool = false
    ) throws -> String {
        EffectiveConfiguration(isComplete: isComplete, isShareable: isShareable)
            .text(of: try Sample.load(text).sections)
    }

    @Test("every documented key of a section has a line")
    func complete() throws {
        let configuration = try Sample.load(Self.text)
        let lines = try Self.render().split(separator: "\n")
        for section in configuration.sections {
            for setting in Kinds.table.settings(in: section.scope)
            where setting.kind == nil || setting.kind == section.kindName {
                let isThere = lines.contains {
                    $0.hasPrefix("\(setting.name) = ") || $0 == "# \(setting.name): not set"
                }
                #expect(isThere, "\(setting.key)")
            }
        }
        let single = SettingScope.allCases.filter(\.isSingle)
        for scope in single { #expect(lines.contains("\(scope.header)"[...]), "\(scope)") }
        #expect(lines.contains("deadline = \"30d\"  # default"))
        #expect(lines.contains("[store.table.where.\"state\"]"))
        #expect(try Sample.load(Self.render()) == configuration)
    }

    @Test("without defaults, only what was written remains, and loads the same")
    func nonDefault() throws {
        let text = try Self.render(isComplete: false)
        #expect(!text.contains("#") && !text.contains("deadline") && !text.contains("[requests]"))
        #expect(text.contains("from = \"ann@example.com\"\n"))
        #expect(try Sample.load(text) == Sample.load(Self.text))
    }

    @Test("what may leave the machine has no addresses, credentials and values of rows")
    func shareable() throws {
        let text = try Self.render(isShareable: true)
        for canary in ["ann@", "canary-"] { #expect(!text.contains(canary), "\(canary)") }
        for line in ["# from: left out", "# key_credential: left out", "table = \"bills\""] {
            #expect(text.contains("\n\(line)\n"), "\(line)")
        }
        for (key, shown) in [
            ("url", "https://chat.example.com:8443/..."), ("ca_file", "/home/..."),
            ("path", "/srv/app.db"),
        ] {
            #expect(text.contains("\n\(key) = \"\(shown)\"\n"), "\(key)")
        }
    }

    @Test("of a text, nothing may leave the machine unless its rule says so")
    func sharedForms() {
        let canary = TextRule("canary", "a canary") { _ in true }
        #expect(canary.shared.text("canary") == nil)
        let cases: [(TextRule, String, String?)] = [
            (.sentence, "canary", nil), (.credential, "canary", nil), (.clientID, "canary", nil),
            (.mailAddress, "ann@example.com", nil), (.identifier, "bills", "bills"),
            (.url, "https://a.example", "https://a.example"),
            (.url, "https://a.example/", "https://a.example/"),
            (.url, "https://[::1]:8443/a/b", "https://[::1]:8443/..."),
            (.path, "/home/ann", "/home/..."), (.path, "/home", "/home"),
            (.path, "/var/home/ann/ca.pem", "/var/home/..."), (.path, "//home/ann", "//home/..."),
            (.path, "/homes/a", "/homes/a"),
        ]
        for (rule, text, shown) in cases {
            #expect(rule.shared.text(text) == shown, "\(rule.title): \(text)")
        }
    }
}
