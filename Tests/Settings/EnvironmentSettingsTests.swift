import Daemon
import Lifecycle
import Testing

@testable import Settings

/// Settings as environment variables, as containers have them.
struct EnvironmentSettingsTests {
    private func parsed(
        _ text: String = "",
        _ environment: [String: String]
    ) throws -> DaemonConfiguration {
        try DaemonConfiguration.parse(
            Array(text.utf8),
            file: "t.toml",
            environment: environment
        )
    }

    private func problems(_ text: String = "", _ environment: [String: String]) -> [String] {
        do {
            _ = try parsed(text, environment)
            return []
        } catch let error as ConfigurationError {
            return error.problems.map(\.description)
        } catch {
            return ["\(error)"]
        }
    }

    @Test func `a variable sets a key of each form, and wins over the file`() throws {
        let configuration = try parsed(
            "[requests]\ndeadline = \"20d\"\nrechecks = [\"1h\"]\n[journal]\nlevel = \"error\"",
            [
                "EXPUNGED_REQUESTS_DEADLINE": "40d",
                "EXPUNGED_REQUESTS_MAX_DELETIONS_PER_HOUR": "7",
                "EXPUNGED_REQUESTS_RECHECKS": "2h, 3d",
                "EXPUNGED_CONTROLLER_NAME": "Example, Berlin",
                "EXPUNGED_SERVER_OPERATOR_GROUP": "4711",
            ]
        )
        #expect(configuration.requests.deadline == .seconds(40 * 86400))
        #expect(configuration.requests.maxDeletionsPerHour == 7)
        #expect(configuration.requests.rechecks == [.seconds(7200), .seconds(3 * 86400)])
        #expect(configuration.controller?.name == "Example, Berlin")
        #expect(configuration.server.operatorGroup == "4711")
        #expect(configuration.journal.level == .error)
        #expect(configuration.places["requests.deadline"] == "$EXPUNGED_REQUESTS_DEADLINE")
        #expect(configuration.places["journal.level"] == "t.toml:5")
    }

    @Test func `an empty list is one, and other variables are nobody's settings`() throws {
        let configuration = try parsed(
            "",
            [
                "EXPUNGED_REQUESTS_RECHECKS": "", "PATH": "/bin", "EXPUNGED_SOCKET": "/s",
                "EXPUNGED_CONFIG": "/c", "EXPUNGED_LOG_FORMAT": "json",
            ]
        )
        #expect(configuration.requests.rechecks.isEmpty)
    }

    struct Refused: Sendable, CustomTestStringConvertible {
        let name: String
        let value: String
        let text: String
        var testDescription: String { "\(name)=\(value)" }
    }

    @Test(arguments: [
        Refused(
            name: "EXPUNGED_JOURNAL_LEVL",
            value: "info",
            text: "$EXPUNGED_JOURNAL_LEVL: cannot use this variable (unknown_key): there is no such"
                + " variable; did you mean 'EXPUNGED_JOURNAL_LEVEL'?"
        ),
        Refused(
            name: "EXPUNGED_JOURNAL_LEVEL",
            value: "loud",
            text:
                "$EXPUNGED_JOURNAL_LEVEL: cannot use journal.level 'loud' (unknown_value): it must"
        ),
        Refused(
            name: "EXPUNGED_SERVER_CONNECTIONS_MAX",
            value: "many",
            text: "$EXPUNGED_SERVER_CONNECTIONS_MAX: cannot use server.connections_max 'many'"
                + " (malformed): it must be 2 to 4096 connections per socket"
        ),
        Refused(
            name: "EXPUNGED_SERVER_CONNECTIONS_MAX",
            value: "1",
            text: "$EXPUNGED_SERVER_CONNECTIONS_MAX: cannot use server.connections_max '1'"
                + " (out_of_range)"
        ),
        Refused(
            name: "EXPUNGED_REQUESTS_RECHECKS",
            value: "1h,tomorrow",
            text: "$EXPUNGED_REQUESTS_RECHECKS: cannot use requests.rechecks[1] 'tomorrow'"
        ),
        Refused(
            name: "EXPUNGED_REQUESTS_GRACE_PERIOD",
            value: "60d",
            text: "$EXPUNGED_REQUESTS_GRACE_PERIOD: cannot use requests.grace_period '60d'"
                + " (contradiction)"
        ),
        Refused(
            name: "EXPUNGED_PROVIDER_NAME",
            value: "apple",
            text: "[[provider]] may be repeated, so it stays in the file"
        ),
        Refused(
            name: "EXPUNGED_GRACE_PERIOD",
            value: "1d",
            text: "did you mean 'EXPUNGED_REQUESTS_GRACE_PERIOD'?"
        ),
        Refused(
            name: "EXPUNGED_PORT_8080_TCP_PROTO",
            value: "tcp",
            text: "the sections are requests,"
        ),
    ])
    func `a problem names the variable instead of a line`(refused: Refused) {
        let found = problems("", [refused.name: refused.value])
        #expect(found.count == 1 && found[0].contains(refused.text), "\(found)")
    }

    @Test func `without a file variables are enough, but not those of the sockets`() throws {
        let path = "/nowhere/expunged.toml"
        let environment = ["EXPUNGED_JOURNAL_LEVEL": "warning"]
        let alone = try DaemonConfiguration.load(path: path, environment: environment)
        #expect(!alone.hasFile && alone.journal.level.rawValue == "warning")
        #expect(alone.cautions.contains { $0.contains("no configuration file") })
        for (environment, isNeeded) in [
            ([:], false), (["EXPUNGED_SERVER_SUBMIT_GROUP": "g"], false), (environment, true),
        ] {
            #expect(throws: ConfigurationError.self) {
                try DaemonConfiguration.load(
                    path: path,
                    environment: environment,
                    isFileNeeded: isNeeded
                )
            }
        }
    }

    @Test func `a secret that was put into a variable is not shown`() {
        let found = problems("", ["EXPUNGED_VAULT_KEY_CREDENTIAL": "c2VjcmV0IGtleQ=="])
        #expect(found.count == 1 && !found[0].contains("c2Vj"), "\(found)")
    }

    @Test func `problems of file and variables are reported at once`() {
        let found = problems("[journal]\nx = 1\n", ["EXPUNGED_X": "1"])
        #expect(found.count == 2, "\(found)")
    }

    @Test func `no two settings have the same variable`() {
        let names = Kinds.table.all.compactMap(EnvironmentSettings.variable(of:))
        #expect(Set(names).count == names.count && names.count > 10)
        #expect(EnvironmentSettings.others.isDisjoint(with: names))
    }
}
