import Glibc
import Lifecycle
import Testing

@testable import Systemd

@Suite("Credential directory")
struct CredentialDirectoryTests {
    private let directory: TemporaryDirectory
    private let credentials: CredentialDirectory

    init() throws {
        directory = try TemporaryDirectory()
        credentials = CredentialDirectory(path: directory.path)
    }

    @Test("a secret is read byte by byte, under either name, the prefixed one first")
    func read() throws {
        try directory.write("plain", [0, 10, 255])
        #expect(try bytes(credentials.read("plain")) == [0, 10, 255])
        try directory.write("expunged_plain", [1])
        #expect(try bytes(credentials.read("plain")) == [1])
        try directory.write("empty", [])
        #expect(try bytes(credentials.read("empty")) == [])
    }

    @Test("a missing secret says which file and where")
    func missing() throws {
        let error = try #require(throws: SystemdError.self) { try credentials.read("apple-key.p8") }
        #expect(error.kind == .missing)
        #expect(
            "\(error)" == "cannot read credential 'apple-key.p8' at '\(directory.path)' (missing): "
                + "neither 'expunged_apple-key.p8' nor 'apple-key.p8' is in it"
        )
        let nowhere = CredentialDirectory(path: directory.path + "/none")
        #expect(throws: SystemdError.self) { try nowhere.read("a") }
    }

    @Test("a file that group or others may write is refused", arguments: [0o620, 0o602, 0o666])
    func writable(_ mode: mode_t) throws {
        try directory.write("key", [1], mode: mode)
        #expect(kind("key") == .unsafePermissions)
    }

    @Test("a readable group is how systemd shows credentials, and is accepted")
    func groupReadable() throws {
        try directory.write("key", [7], mode: 0o440)
        #expect(try bytes(credentials.read("key")) == [7])
    }

    @Test("directories and pipes are no secrets")
    func types() throws {
        try #require(unsafe mkdir("\(directory.path)/sub", 0o700) == 0)
        try #require(unsafe mkfifo("\(directory.path)/pipe", 0o600) == 0)
        for name in ["sub", "pipe"] { #expect(kind(name) == .wrongType, "\(name)") }
    }

    @Test("a symbolic link, as Kubernetes makes it, is judged by its target")
    func links() throws {
        try #require(unsafe mkdir("\(directory.path)/..data", 0o700) == 0)
        try directory.write("..data/good", [7])
        try directory.write("..data/open", [7], mode: 0o622)
        try #require(unsafe mkfifo("\(directory.path)/..data/pipe", 0o600) == 0)
        for name in ["good", "open", "pipe", "gone", "loop"] {
            let target = name == "loop" ? name : "..data/\(name)"
            try #require(unsafe symlink(target, "\(directory.path)/\(name)") == 0)
        }
        #expect(try bytes(credentials.read("good")) == [7])
        #expect(kind("open") == .unsafePermissions)
        #expect(kind("pipe") == .wrongType)
        #expect(kind("gone") == .missing)
        #expect(kind("loop") == .system)
    }

    @Test("64 KiB is the most")
    func size() throws {
        try directory.write("most", [UInt8](repeating: 1, count: 65_536))
        try directory.write("more", [UInt8](repeating: 1, count: 65_537))
        #expect(try credentials.read("most").count == 65_536)
        #expect(kind("more") == .tooLarge)
    }

    @Test(
        "a name cannot lead out of the directory",
        arguments: ["../x", "/etc/passwd", "..", ".hidden", "", "a/b", "a\0b", "ü"]
    )
    func names(_ name: String) {
        #expect(kind(name) == .malformedName)
    }

    private func kind(_ name: String) -> SystemdError.Kind? {
        do {
            _ = try credentials.read(name)
            return nil
        } catch {
            return error.kind
        }
    }

    private func bytes(_ secret: Secret) -> [UInt8] { secret.withBytes { $0.map(\.self) } }
}
