import Testing

@testable import Systemd

@Suite("Service directories")
struct ServiceDirectoriesTests {
    private let environment = [
        "STATE_DIRECTORY": "/var/lib/expunged:/var/lib/second",
        "RUNTIME_DIRECTORY": "/run/expunged",
        "CREDENTIALS_DIRECTORY": "/run/credentials/expunged.service",
        "LOGS_DIRECTORY": "/var/log/expunged",
    ]

    @Test("systemd's variables name the directories; of a list the first")
    func fromEnvironment() throws {
        let directories = try ServiceDirectories(environment: environment)
        #expect(directories.state == "/var/lib/expunged")
        #expect(directories.runtime == "/run/expunged")
        #expect(directories.credentials?.path == "/run/credentials/expunged.service")
        #expect(directories.logs == "/var/log/expunged")
    }

    @Test("the command line wins, relative paths included")
    func overrides() throws {
        let directories = try ServiceDirectories(
            environment: environment,
            overrides: .init(state: "s", runtime: "r", credentials: "c", logs: "l")
        )
        #expect(directories.state == "s")
        #expect(directories.runtime == "r")
        #expect(directories.credentials?.path == "c")
        #expect(directories.logs == "l")
    }

    @Test("the state is needed; the runtime only by who asks for it")
    func missing() throws {
        let least = try ServiceDirectories(environment: ["STATE_DIRECTORY": "/s"])
        #expect(least.credentials == nil)
        #expect(least.logs == nil)
        #expect(least.runtime == nil)
        let noRuntime = try #require(throws: SystemdError.self) { try least.requireRuntime() }
        #expect("\(noRuntime)".contains("--runtime-directory"))
        let noState = try #require(throws: SystemdError.self) {
            try ServiceDirectories(environment: ["RUNTIME_DIRECTORY": "/r"])
        }
        #expect("\(noState)".contains("$STATE_DIRECTORY"))
        #expect(
            try ServiceDirectories(environment: environment).requireRuntime() == "/run/expunged"
        )
    }

    @Test("a variable with a relative path is refused")
    func relative() throws {
        let error = try #require(throws: SystemdError.self) {
            try ServiceDirectories(environment: ["STATE_DIRECTORY": "lib"])
        }
        #expect(error.kind == .malformedName)
    }
}
