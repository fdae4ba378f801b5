import FoundationEssentials
import GRDB
import Glibc
import Lifecycle
import Testing

@testable import Daemon
@testable import Sandbox

/// A machine on which everything is fine, below a directory of its own.
final class CheckBench: Sendable {
    static let configuration = """
        [[provider]]
        name = "apple"
        kind = "apple"
        team_id = "ABCDE12345"
        key_id = "KEY1234567"
        client_ids = ["com.example.app"]
        private_key_credential = "apple-key.p8"
        base_url = "{url}"
        ca_file = "{here}/ca.pem"
        timeout_connect = "60s"
        timeout_total = "300s"

        [[store]]
        name = "app-db"
        kind = "sqlite"
        path = "{here}/app.db"
        [[store.table]]
        table = "users"
        column = "id"
        action = "delete"

        [[store]]
        name = "uploads"
        kind = "files"
        root = "{here}/uploads"
        paths = ["{user_id}"]
        """

    let directory: String

    init() throws {
        let url = FileManager.default.temporaryDirectory.appending(
            path: "expunged-check-\(UUID().uuidString)"
        )
        directory = url.path(percentEncoded: false)
        for folder in ["", "/state", "/logs", "/credentials", "/uploads"] {
            try FileManager.default.createDirectory(
                atPath: directory + folder,
                withIntermediateDirectories: false
            )
            #expect(unsafe chmod(directory + folder, 0o755) == 0)
        }
        try write("uploads/.expunged-root", "uploads\n")
        try write("journal", "")
        try write("credentials/vault-key", Data(repeating: 1, count: 32).base64EncodedString())
        try write("credentials/apple-key.p8", try CryptoKey.makeP256().privatePEM())
        try database("CREATE TABLE users (id TEXT PRIMARY KEY) STRICT")
    }

    deinit {
        do {
            try FileManager.default.removeItem(atPath: directory)
        } catch {
            Issue.record("cannot remove a test's directory")
        }
    }

    /// Writes a file of mode 0600.
    func write(_ name: String, _ text: String, mode: mode_t = 0o600) throws {
        let path = directory + "/" + name
        try Data(text.utf8).write(to: URL(filePath: path))
        #expect(unsafe chmod(path, mode) == 0)
    }

    func remove(_ name: String) throws {
        try FileManager.default.removeItem(atPath: directory + "/" + name)
    }

    /// Makes the store anew.
    func database(_ schema: String) throws {
        let path = directory + "/app.db"
        if FileManager.default.fileExists(atPath: path) { try remove("app.db") }
        let database = try DatabaseQueue(path: path)
        try database.write { try $0.execute(sql: schema) }
        try database.close()
    }

    var machine: SystemCheck.Machine {
        var machine = SystemCheck.Machine()
        machine.journalSocket = directory + "/journal"
        machine.systemd = directory
        machine.space = { _ in DiskSpace(freeBytes: 1 << 40, freeFiles: 1 << 20) }
        return machine
    }

    static let unit = "LoadState=loaded UnitFileState=enabled NeedDaemonReload=no WatchdogUSec=30s"

    /// Checks the configuration after `change`.
    func check(
        at server: LocalServer,
        machine: SystemCheck.Machine? = nil,
        unit: String = CheckBench.unit,
        environment: [String: String] = [:],
        isFileThere: Bool = true,
        _ change: (String) -> String = { $0 }
    ) async throws -> [Finding] {
        let text = change(Self.configuration).replacing("{here}", with: directory)
            .replacing("{url}", with: server.url)
        try isFileThere ? write("expunged.toml", text) : remove("expunged.toml")
        var options = try DaemonOptions(["--check", "--config", directory + "/expunged.toml"])
        options.stateDirectory = directory + "/state"
        options.logsDirectory = directory + "/logs"
        options.credentialsDirectory = directory + "/credentials"
        return await SystemCheck(
            options: options,
            environment: environment.merging([UnitFacts.variable: unit]) { given, _ in given },
            folders: try options.directories(environment, mayBeUnit: true),
            machine: machine ?? self.machine
        ).run()
    }
}
