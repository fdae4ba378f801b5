import Testing

@testable import Daemon
@testable import Settings

@Suite("A bad configuration is refused with everything that is wrong")
struct DiagnosticsTests {
    @Test("all problems come at once, each with its line")
    func allAtOnce() {
        let message = Sample.message(
            """
            [requests]
            grace_period = 30
            deadlin = "30d"

            [[provider]]
            name = "apple"
            kind = "apple"
            team_id = "ABC"
            key_id = "KEY1234567"
            client_ids = ["a", "b",
              "a"]
            private_key_credential = "apple-key.p8"
            concurrency = 0

            [[store]]
            name = "App"
            kind = "sqlite"
            path = "app.db"
            """
        )
        #expect(
            message == """
                t.toml:2: cannot use requests.grace_period (wrong_type): it is a number; write \
                grace_period = "0s" or the like
                t.toml:3: cannot use requests.deadlin (unknown_key): there is no such key; did you \
                mean 'deadline'?
                t.toml:8: cannot use provider.apple.team_id 'ABC' (malformed): it must be 10 \
                characters A-Z or 0-9
                t.toml:11: cannot use provider.apple.client_ids[2] 'a' (duplicate): it is in the \
                list already
                t.toml:13: cannot use provider.apple.concurrency '0' (out_of_range): it must be 1 \
                to 1024 calls
                t.toml:15: cannot use store[0].table (missing_key): a store needs at least one \
                [[store.table]] below it
                t.toml:16: cannot use store[0].name 'App' (malformed): it must be 1 to 63 \
                characters a-z, 0-9 or '-', the first a letter
                t.toml:18: cannot use store[0].path 'app.db' (malformed): it must be an absolute \
                path of at most 1024 bytes without '..'
                """
        )
    }

    @Test(
        "one problem is told with its line and what to do",
        arguments: [
            (
                "[request]\n",
                "1: cannot use request (unknown_key): there is no such section; did you mean 'requ"
            ),
            (
                "x = 1\n[provider]\nname = \"a\"\n",
                "2: cannot use provider (wrong_type): it is a section; write [[provider]], with two"
            ),
            (
                "[requests]\nwithout_identities = \"wait\"\n",
                "2: cannot use requests.without_identities 'wait' (unknown_value): it must be "
            ),
            (
                "[requests]\ndeadline = \"5\"\n",
                "2: cannot use requests.deadline '5' (malformed): write a duration with units"
            ),
            (
                "requests.deadline = \"10m\"\n",
                "1: cannot use requests.deadline '10m' (out_of_range): it must be 1h to 365d"
            ),
            (
                "[requests]\ngrace_period = \"60d\"\n",
                "2: cannot use requests.grace_period '60d' (contradiction): it must be shorter than"
            ),
            (
                "vault = { key_credential = \"k\", retired_key_credentials = [\"j\", \"k\"] }\n",
                "1: cannot use vault.retired_key_credentials[1] (contradiction): it is also the key"
            ),
            ("[requests]\ndeadline = \n", "2: cannot use this file (syntax): "),
            (
                "[[server]]\n",
                "1: cannot use server (wrong_type): it is a list; write [server] on a line"
            ),
        ]
    )
    func one(text: String, expected: String) {
        #expect(Sample.message(text).contains("t.toml:\(expected)"), "\(Sample.message(text))")
    }

    @Test(
        "a provider is refused for what is wrong in it",
        arguments: [
            ("base_url = \"http://127.0.0.1:9\"", "use https, or for a test set allow_plain_http"),
            (
                "base_url = \"http://10.0.0.1\"\nallow_plain_http = true",
                "tokens go over https only"
            ),
            ("base_url = \"https://user@host\"", "(malformed): it must be https://HOST[:PORT]"),
            ("base_url = \"https://host/path\"", "(malformed): it must be https://HOST[:PORT]"),
            ("timeout_connect = \"50s\"", "must not be longer than timeout_total, which is 30s"),
            (
                "timeout_connect = \"3s\"\ntimeout_total = \"2s\"",
                "must not be longer than timeout_total, which is 2s"
            ),
            ("revocation_deadline = \"30d\"", "must stay below requests.deadline, which is 30d"),
            (
                "issuer = \"https://a\"",
                "kind \"apple\" has no such key; it belongs to kind \"oauth2\""
            ),
            ("on_unrevokable = \"park\"", "did you mean 'on_unrevocable'?"),
        ]
    )
    func provider(line: String, expected: String) {
        let message = Sample.message(Sample.provider + line)
        #expect(message.contains("t.toml:8: "), "\(message)")
        #expect(message.contains(expected), "\(message)")
        #expect(!message.contains("\n"), "\(message)")
    }

    @Test("a provider without its family's keys is told each of them")
    func missingKeys() {
        let message = Sample.message("[[provider]]\nname = \"a\"\nkind = \"apple\"\n")
        for key in ["client_ids", "team_id", "key_id", "private_key_credential"] {
            #expect(message.contains("t.toml:1: cannot use provider.a.\(key) (missing_key)"))
        }
        #expect(message.split(separator: "\n").count == 4)
    }

    @Test(
        "a table is refused for what is wrong in it",
        arguments: [
            ("keep_reason = \"x\"", "action \"delete\" keeps nothing"),
            ("set = { a = { strategy = \"null\" } }", "only action \"anonymize\" changes columns"),
            ("created_at_column = \"c\"", "created_at_column needs it; it must be \"unix_s\""),
            ("created_at_unit = \"unix_s\"", "it says nothing without created_at_column"),
            (
                "id_type = \"guid\"",
                "it must be \"text\", \"integer\", \"blob\", \"uuid\" or \"mixed\""
            ),
            (
                "[[store.table]]\ntable = \"Posts\"\ncolumn = \"AUTHOR_ID\"\naction = \"delete\"",
                "line 5 deals with the same column of the same table"
            ),
            (
                "[[store]]\nname = \"app-db\"\nkind = \"sqlite\"\npath = \"/b\"\n"
                    + "[[store.table]]\n"
                    + "table = \"t\"\ncolumn = \"c\"\naction = \"delete\"",
                "line 2 has the same name; names are unique"
            ),
            (
                "[[store]]\nname = \"b\"\nkind = \"sqlite\"\npath = \"/srv/app.db\"\n"
                    + "[[store.table]]\n"
                    + "table = \"t\"\ncolumn = \"c\"\naction = \"delete\"",
                "the store of line 4 has the same file"
            ),
        ]
    )
    func table(lines: String, expected: String) {
        let message = Sample.message(Sample.store + lines)
        #expect(message.contains(expected), "\(message)")
        #expect(!message.contains("\n"), "\(message)")
    }

    @Test(
        "an anonymized column is refused for what is wrong in it",
        arguments: [
            ("set = { c = { strategy = \"constant\" } }", "set.c.value (missing_key)"),
            ("set = { c = { strategy = \"truncate\" } }", "set.c.length (missing_key)"),
            (
                "set = { c = { strategy = \"null\", value = \"x\" } }",
                "has no value; \"constant\" has"
            ),
            (
                "set = { c = { strategy = \"hash\", length = 3 } }",
                "has no length; \"truncate\" has"
            ),
            ("set = { c = { strategy = \"erase\" } }", "set.c.strategy 'erase' (unknown_value)"),
            ("set = { c = \"null\" }", "it is a text; write c = { strategy = \"null\" }"),
            ("set = {}", "it must name at least one column"),
            ("", "action \"anonymize\" needs set"),
        ]
    )
    func column(line: String, expected: String) {
        let table = Sample.store.replacing(
            "\"delete\"",
            with: "\"anonymize\"\nkeep_reason = \"tax\""
        )
        let message = Sample.message(table + line)
        #expect(message.contains(expected), "\(message)")
        #expect(!message.contains("\n"), "\(message)")
    }

    @Test("values of credential keys and of unknown keys are never shown")
    func secretsStaySecret() {
        let message = Sample.message(
            """
            [vault]
            key_credential = "hunter2 secret"
            retired_key_credentials = ["hunter2 secret"]
            password = "hunter2"
            """
        )
        #expect(message.split(separator: "\n").count == 3)
        #expect(!message.contains("hunter2"))
        #expect(!Sample.message("a = 4711471147114711471147114711\n").contains("4711"))
    }

    @Test("what a file says cannot forge lines of the message")
    func noForgedLines() {
        let message = Sample.message("[journal]\nlevel = \"x\\nt.toml:1: all is well\\u001b[2J\"\n")
        #expect(!message.contains("\n") && !message.contains("\u{1b}"))
    }

    @Test("a file with more problems than anybody reads gives a bounded list")
    func bounded() {
        let text = "[requests]\n" + (0..<5000).map { "k\($0) = 1\n" }.joined()
        let lines = Sample.message(text).split(separator: "\n")
        #expect(lines.count == SettingsLimits.problemsMax + 1)
        #expect(lines.first?.hasPrefix("t.toml:2: ") == true)
        #expect(lines.last == "… and 4800 more problems")
    }
}
