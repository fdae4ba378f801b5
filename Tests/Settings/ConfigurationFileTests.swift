import Glibc
import Testing

@testable import Daemon
@testable import Providers
@testable import Settings

/// A directory of its own, removed with everything in it.
private final class ScratchDirectory {
    let path: String

    init() {
        var template = Array("/tmp/expunged-settings.XXXXXX\0".utf8CString.dropLast())
        unsafe mkdtemp(&template)
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    func write(_ name: String, _ text: String, mode: mode_t = 0o644) -> String {
        let file = "\(path)/\(name)"
        let descriptor = unsafe open(file, O_WRONLY | O_CREAT | O_EXCL, 0o600)
        let bytes = Array(text.utf8)
        unsafe Glibc.write(descriptor, bytes, bytes.count)
        fchmod(descriptor, mode)
        close(descriptor)
        return file
    }

    deinit {
        for name in ["a.toml", "link.toml", "fifo"] { unsafe unlink("\(path)/\(name)") }
        unsafe rmdir(path)
    }
}

@Suite("A configuration file that others could have written is refused")
struct ConfigurationFileTests {
    private let scratch = ScratchDirectory()

    private func kind(_ file: ConfigurationFile) -> ConfigurationProblem.Kind? {
        do {
            _ = try file.read()
            return nil
        } catch {
            return error.problems.first?.kind
        }
    }

    @Test("a file that only its owner can write is read")
    func good() throws {
        let file = scratch.write("a.toml", "[requests]\n")
        #expect(try DaemonConfiguration.load(path: file) == Sample.load(""))
    }

    @Test(
        "a file that its group or others can write is refused",
        arguments: [0o664, 0o646] as [mode_t]
    )
    func shared(mode: mode_t) {
        let file = scratch.write("a.toml", "", mode: mode)
        #expect(kind(ConfigurationFile(path: file, callerUID: 0)) == .unsafePermissions)
    }

    @Test("an unprivileged caller's own file may be writable by its group")
    func ownShared() {
        let file = scratch.write("a.toml", "", mode: 0o664)
        var status = stat()
        unsafe stat(file, &status)
        // Run as root, the file is root's and the caller is not; run as a user, it is the user's
        // own.
        let isOwn = status.st_uid != 0
        let caller = isOwn ? status.st_uid : 4711
        let expected: ConfigurationProblem.Kind? = isOwn ? nil : .unsafePermissions
        #expect(kind(ConfigurationFile(path: file, callerUID: caller)) == expected)
    }

    @Test("another user's file is refused")
    func foreign() {
        let file = scratch.write("a.toml", "")
        unsafe chown(file, 4711, 4711)
        var status = stat()
        unsafe stat(file, &status)
        let refused: ConfigurationProblem.Kind? = status.st_uid == 0 ? nil : .unsafePermissions
        #expect(kind(ConfigurationFile(path: file, callerUID: 4712)) == refused)
    }

    @Test("a directory and a FIFO are refused without waiting, also behind a symbolic link")
    func notRegular() {
        let fifo = "\(scratch.path)/fifo"
        unsafe mkfifo(fifo, 0o600)
        for target in [scratch.path, fifo] {
            let link = linked(to: target)
            for path in [target, link] {
                #expect(kind(ConfigurationFile(path: path)) == .notRegularFile, "\(path)")
            }
            unsafe unlink(link)
        }
    }

    @Test("a symbolic link is followed, as Kubernetes and NixOS make it")
    func link() throws {
        _ = scratch.write("a.toml", "[requests]\n")
        let link = linked(to: "a.toml")
        #expect(try DaemonConfiguration.load(path: link) == Sample.load(""))
    }

    @Test("the target of a symbolic link is checked like the file itself")
    func linkToUnsafeTarget() {
        let file = scratch.write("a.toml", "", mode: 0o646)
        let link = linked(to: file)
        #expect(kind(ConfigurationFile(path: link, callerUID: 0)) == .unsafePermissions)
        unsafe chmod(file, 0o644)
        unsafe chown(file, 4711, 4711)
        var status = stat()
        unsafe stat(file, &status)
        let refused: ConfigurationProblem.Kind? = status.st_uid == 0 ? nil : .unsafePermissions
        #expect(kind(ConfigurationFile(path: link, callerUID: 4712)) == refused)
    }

    @Test(
        "a symbolic link to nothing and one to itself are unreadable",
        arguments: ["b", "link.toml"]
    )
    func brokenLink(target: String) {
        #expect(kind(ConfigurationFile(path: linked(to: target))) == .unreadable)
    }

    private func linked(to target: String) -> String {
        let link = "\(scratch.path)/link.toml"
        unsafe symlink(target, link)
        return link
    }

    @Test("a missing file is told by its path")
    func missing() {
        #expect(throws: ConfigurationError.self) {
            try DaemonConfiguration.load(path: "/nonexistent/expunged.toml")
        }
        do {
            _ = try DaemonConfiguration.load(path: "/nonexistent/expunged.toml")
        } catch {
            #expect(
                error.description
                    == "/nonexistent/expunged.toml: cannot use this file (unreadable): "
                    + "no such file or directory"
            )
        }
    }

    @Test("a file larger than 1 MiB is refused")
    func tooLarge() {
        let text = String(repeating: "#\n", count: SettingsLimits.byteCountMax / 2)
        let file = scratch.write("a.toml", text + "#")
        #expect(kind(ConfigurationFile(path: file)) == .tooLarge)
        #expect(throws: Never.self) { try Sample.load(text) }
    }

    @Test(
        "what would upset the parser is refused with its line",
        arguments: [
            ("\n" + String(repeating: "a.", count: 2000) + "a = 1", "t.toml:2: ", "too_deep"),
            ("\na = " + String(repeating: "[", count: 2000), "t.toml:2: ", "too_deep"),
            ("\n[" + String(repeating: "a.", count: 100) + "a]", "t.toml:2: ", "too_deep"),
            (String(repeating: "a.", count: 500_000) + "a = 1", "t.toml:1: ", "too_large"),
            ("\n\na = \"\\u0000\"", "t.toml:3: ", "not_utf8"),
            // libFuzzer found that the parser traps on it.
            ("\n[\r1requests]\n", "t.toml:2: ", "syntax"),
            ("a = 1\r", "t.toml:1: ", "syntax"),
            ("\n\u{0}", "t.toml:2: ", "not_utf8"),
            ("\n[=]", "t.toml:2: ", "syntax"),
            ("\n[.a]", "t.toml:2: ", "syntax"),
            ("\n[[#]]", "t.toml:2: ", "syntax"),
            ("\n= 1", "t.toml:2: ", "syntax"),
            ("\na = 0x", "t.toml:2: ", "syntax"),
            ("\na = 1.5e", "t.toml:2: ", "syntax"),
            ("\na = -inf", "t.toml:2: ", "unknown_key"),
            ("\na = 1__0", "t.toml:2: ", "syntax"),
            ("\na = text", "t.toml:2: ", "syntax"),
            ("\na = 1979-05-27", "t.toml:2: ", "unknown_key"),
        ]
    )
    func hostile(text: String, place: String, kind: String) {
        let message = Sample.message(text)
        #expect(message.hasPrefix(place) && message.contains("(\(kind))"), "\(message)")
    }

    @Test("bytes that are not UTF-8 are refused with their line")
    func notUTF8() {
        #expect(throws: ConfigurationError.self) {
            try DaemonConfiguration.parse([0x23, 0x0a, 0x23, 0xff], file: "t")
        }
    }
}
