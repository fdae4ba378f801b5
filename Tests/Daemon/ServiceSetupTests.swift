import FoundationEssentials
import Glibc
import Settings
import Testing

@testable import Daemon

@Suite("expunged setup prepares a machine and changes nothing that exists")
final class ServiceSetupTests {
    private let place: String
    private let setup: ServiceSetup

    init() throws {
        let path = FileManager.default.temporaryDirectory.path + "/setup-\(UUID().uuidString)"
        place = path + "/expunged"
        try FileManager.default.createDirectory(
            atPath: path,
            withIntermediateDirectories: true
        )
        setup = ServiceSetup(
            configuration: place + "/expunged.toml",
            credentials: place + "/credentials"
        )
    }

    deinit {
        do {
            try FileManager.default.removeItem(atPath: String(place.dropLast("/expunged".count)))
        } catch {
            Issue.record("\(place) is left behind: \(error)")
        }
    }

    private var key: String { setup.credentials + "/vault-key" }

    private func mode(_ path: String) -> mode_t {
        var status = stat()
        #expect(unsafe lstat(path, &status) == 0, "\(path)")
        return status.st_mode & 0o7777
    }

    private func text(_ path: String) throws -> String {
        try String(contentsOf: URL(filePath: path), encoding: .utf8)
    }

    private func write(_ text: String, to path: String, mode: mode_t = 0o600) throws {
        for directory in [place, setup.credentials] { _ = unsafe mkdir(directory, 0o700) }
        try Data(text.utf8).write(to: URL(filePath: path))
        #expect(unsafe chmod(path, mode) == 0)
    }

    private func refusal() -> String {
        do {
            return "not refused: \(try setup.run(uid: 0))"
        } catch {
            return "\(error)"
        }
    }

    private func files() throws -> [String] {
        guard FileManager.default.fileExists(atPath: place) else { return [] }
        return try FileManager.default.subpathsOfDirectory(atPath: place).sorted()
    }

    @Test("everything that is missing is created with the modes of the design")
    func fresh() throws {
        let said = try setup.run(uid: 0)
        #expect(try files() == ["credentials", "credentials/vault-key", "expunged.toml"])
        #expect(mode(place) == 0o755)
        #expect(mode(setup.credentials) == 0o700)
        #expect(mode(key) == 0o600)
        #expect(mode(setup.configuration) == 0o644)
        let made = try DaemonConfiguration.load(path: setup.configuration)
        #expect(made.providers.isEmpty && made.stores.isEmpty)
        for path in [place, setup.credentials, key, setup.configuration] {
            #expect(said.contains("created \(path)"))
        }
        #expect(said.contains("copy \(key)") && said.contains("systemctl restart expunged"))
    }

    @Test("the second run keeps everything and says so")
    func again() throws {
        let first = try setup.run(uid: 0)
        let (oldKey, oldConfiguration) = try (text(key), text(setup.configuration))
        let second = try setup.run(uid: 0)
        #expect(try text(key) == oldKey && text(setup.configuration) == oldConfiguration)
        #expect(second.contains("kept \(key)") && second.contains("kept \(setup.configuration)"))
        #expect(!second.contains("created") && !second.contains("copy"))
        let id = try #require(first.firstMatch(of: /vault key ([0-9a-f]{16})/)).1
        #expect(second.contains(id))
    }

    @Test("the next commands have the paths of the command line, where they are not the unit's")
    func paths() throws {
        let said = try setup.run(uid: 0)
        let words = "--config \(setup.configuration) --credentials-directory \(setup.credentials)"
        #expect(said.contains("check it: sudo expunged --check \(words)\n"), "\(said)")
        #expect(said.contains("have these paths (systemctl edit expunged), then: sudo systemctl"))
        let spaced = ServiceSetup(
            configuration: place + "/it's new/a.toml",
            credentials: DaemonOptions.credentialsOfUnit
        )
        #expect { try spaced.run(uid: 1000) } throws: { error in
            "\(error)".contains(#"sudo expunged setup --config '\#(place)/it'\''s new/a.toml'"#)
        }
        let usual = ServiceSetup(
            configuration: DaemonOptions.configurationOfUnit,
            credentials: DaemonOptions.credentialsOfUnit
        )
        #expect { try usual.run(uid: 1000) } throws: { error in
            "\(error)".hasSuffix("sudo expunged setup")
        }
    }

    @Test("an existing configuration is kept, and names the key")
    func existingConfiguration() throws {
        let text = "[vault]\nkey_credential = \"own-key\"\n"
        try write(text, to: setup.configuration)
        let said = try setup.run(uid: 0)
        #expect(try self.text(setup.configuration) == text)
        #expect(mode(setup.configuration) == 0o600)
        #expect(try files() == ["credentials", "credentials/own-key", "expunged.toml"])
        #expect(said.contains("add providers and stores"))
    }

    @Test("without root nothing is created")
    func noRoot() throws {
        #expect { try setup.run(uid: 1000) } throws: { error in
            (error as? DaemonError)?.exitStatus == .usage
                && "\(error)".contains("sudo expunged setup")
        }
        #expect(try files().isEmpty)
    }

    @Test("a bad configuration is reported before anything is created")
    func badConfiguration() throws {
        try write("[[store]]\n", to: setup.configuration)
        #expect(refusal().contains("expunged.toml:1"))
        #expect(try files() == ["credentials", "expunged.toml"])
    }

    @Test("a symbolic link as configuration is followed, and never written through")
    func linkedConfiguration() throws {
        let target = place + "/real.toml"
        try write("", to: target)
        #expect(unsafe symlink("real.toml", setup.configuration) == 0)
        #expect(try setup.run(uid: 0).contains("kept \(setup.configuration)"))
        #expect(unsafe unlink(target) == 0)
        #expect(refusal().contains("target of this symbolic link does not exist"))
        #expect(try !files().contains("real.toml"))
    }

    @Test("a symbolic link as vault key is refused, because systemd passes none on")
    func linkedKey() throws {
        let target = place + "/real-key"
        try write("x", to: target)
        #expect(unsafe symlink(target, key) == 0)
        let said = refusal()
        #expect(
            said.contains("is a symbolic link, and systemd passes none on")
                && said.contains("setup replaces no file")
        )
        #expect(try text(target) == "x")
        #expect(try !files().contains("expunged.toml"))
    }

    @Test("a file that is no vault key is refused and kept")
    func wrongKey() throws {
        try write("not a key", to: key)
        #expect(refusal().contains("it is not base64; it must be 32 random bytes in base64"))
        #expect(try text(key) == "not a key")
    }

    @Test("a vault key that other users may read is refused with the remedy")
    func readableKey() throws {
        _ = try setup.run(uid: 0)
        #expect(unsafe chmod(key, 0o644) == 0)
        #expect(refusal().contains("run: chown root:root \(key); chmod 0600 \(key)"))
        #expect(mode(key) == 0o644)
    }

    @Test("a directory that other users may write, and a file in its place, are refused")
    func unsafeDirectory() throws {
        for directory in [place, setup.credentials] { #expect(unsafe mkdir(directory, 0o700) == 0) }
        #expect(unsafe chmod(setup.credentials, 0o770) == 0)
        #expect(refusal().contains("chmod 700 \(setup.credentials)"))
        #expect(unsafe rmdir(setup.credentials) == 0)
        try Data().write(to: URL(filePath: setup.credentials))
        #expect(refusal().contains("must be a directory"))
        #expect(try files() == ["credentials"])
    }

    @Test("a directory whose parent is missing is reported by its path")
    func missingParent() throws {
        let deep = ServiceSetup(configuration: place + "/a/b/c.toml", credentials: place)
        #expect { try deep.run(uid: 0) } throws: {
            "\($0)" == "cannot create '\(self.place)/a/b': no such file or directory"
        }
    }
}
