import ControlServer
import Encoding
import Engine
import Glibc
import Lifecycle
import Settings
import Storage
import Systemd

/// The state directory, the ledger's checkpoints, the spool, the disk, the journal and the unit.
extension SystemCheck {
    /// Below it the service stops taking requests soon.
    private static let freeBytesMin: UInt64 = 64 << 20
    private static let freeBytesWanted: UInt64 = 1 << 30
    private static let freeFilesMin: UInt64 = 1000

    func folderFindings() -> [Finding] {
        let state = folders.state
        var found = folder(state, "state directory", .error)
        guard found.isEmpty else { return found }
        let logs = folders.logs ?? state
        let database = state + "/state.db"
        let files = [
            database, StateLock.path(database), CrashMarker.path(in: state), logs + "/checkpoints",
            logs + "/commits",
        ]
        found += files.compactMap(fileFinding)
        found += spoolFindings(state + "/spool")
        found += diskFindings(state)
        found += folder(logs, "directory of the ledger's checkpoints", .warning)
        if unsafe access(machine.journalSocket, F_OK) != 0 {
            let reason = "no journal takes messages here, so they go to standard error"
            let remedy = "start it with: systemctl start systemd-journald"
            found.append(Finding(.warning, at: machine.journalSocket, reason, remedy: remedy))
        }
        return found
    }

    func folder(_ path: String, _ role: String, _ severity: Finding.Severity) -> [Finding] {
        func finding(_ reason: String, _ remedy: String) -> [Finding] {
            [Finding(severity, at: path, "the \(role) \(reason)", remedy: remedy)]
        }
        var status = stat()
        guard unsafe stat(path, &status) == 0 else {
            let isMissing = errno == ENOENT
            return finding(
                isMissing ? "is missing" : "cannot be read (\(ErrorNumber.current))",
                "start the service once, which makes it, or name another one (expunged --help)"
            )
        }
        guard status.st_mode & S_IFMT == S_IFDIR else {
            return finding("is no directory", "move it away; systemd makes the directory")
        }
        let uid = geteuid()
        guard status.st_uid == uid || uid == 0 else {
            return finding(
                "belongs to uid \(status.st_uid), and the service runs as uid \(uid)",
                "run: chown -R expunged:expunged \(path)"
            )
        }
        guard status.st_mode & (S_IWGRP | S_IWOTH) == 0 else {
            return finding("can be written by others", "run: chmod go-w \(path)")
        }
        guard unsafe access(path, R_OK | W_OK | X_OK) == 0 else {
            return finding(
                "cannot be written (\(ErrorNumber.current))",
                "mount it writable, and run: chown -R expunged:expunged \(path)"
            )
        }
        return []
    }

    /// Of a file that a start opens to write, where it is.
    private func fileFinding(_ path: String) -> Finding? {
        var status = stat()
        guard unsafe lstat(path, &status) == 0 || errno != ENOENT else { return nil }
        let isWritable = unsafe access(path, R_OK | W_OK) == 0
        guard status.st_mode & S_IFMT != S_IFREG || !isWritable else { return nil }
        return Finding(
            at: path,
            "it is not a regular file that the service can write",
            remedy: "move it away, or run: chown expunged:expunged \(path)"
        )
    }

    private func spoolFindings(_ directory: String) -> [Finding] {
        let path = directory + "/queue.db"
        func finding(_ reason: String, _ severity: Finding.Severity = .error) -> [Finding] {
            let remedy = "see docs/guides/spool-repair.md; requests over the sockets work meanwhile"
            return [Finding(severity, at: path, "the spool " + reason, remedy: remedy)]
        }
        var status = stat()
        let isThere = unsafe lstat(path, &status) == 0
        guard isThere || errno != ENOENT else {
            // Before the first start there is none.
            guard unsafe access(folders.state + "/hash.key", F_OK) == 0 else { return [] }
            return finding("is missing; the service makes one only when it starts", .warning)
        }
        guard !isThere || status.st_mode & S_IFMT == S_IFREG else {
            return finding("is not a regular file")
        }
        guard unsafe access(path, R_OK | W_OK) == 0 else {
            return finding("cannot be used (\(ErrorNumber.current))")
        }
        guard let failure = SpoolFile.examine(path: path) else { return [] }
        return finding("cannot be used (\(failure.rawValue))")
    }

    private func diskFindings(_ path: String) -> [Finding] {
        guard let space = machine.space(path) else { return [] }
        func finding(_ reason: String, _ severity: Finding.Severity = .error) -> [Finding] {
            let remedy = "free space, or move the state to a larger disk"
            return [Finding(severity, at: path, "its file system " + reason, remedy: remedy)]
        }
        if space.isReadOnly {
            return [Finding(at: path, "its file system is read-only", remedy: "mount it writable")]
        }
        if space.freeFiles < Self.freeFilesMin {
            return finding("has \(space.freeFiles) free inodes")
        }
        guard space.freeBytes < Self.freeBytesWanted else { return [] }
        let isLittle = space.freeBytes < Self.freeBytesMin
        return finding("has \(space.freeBytes >> 20) MiB free", isLittle ? .error : .warning)
    }

    func approvalFindings(_ configuration: DaemonConfiguration) -> [Finding] {
        guard configuration.requests.approval == .required, !PeerLogin.isReadable else { return [] }
        let place = place(of: "requests.approval", in: configuration)
        let reason = "approvals cannot be taken: /proc hides who is behind a connection"
        let remedy = "install the drop-in expunged-approval.conf (docs/guides/approval.md)"
        return [Finding(at: place, reason, remedy: remedy)]
    }

    func unitFindings() -> [Finding] {
        guard unsafe access(machine.systemd, F_OK) == 0, let facts = UnitFacts(environment) else {
            return []
        }
        func warning(_ reason: String, _ remedy: String) -> Finding {
            Finding(.warning, at: ServiceUnit.name, reason, remedy: remedy)
        }
        guard facts["LoadState"] == "loaded" else {
            let remedy = "install the package (docs/guides/install.md)"
            return [warning("systemd has no such unit", remedy)]
        }
        var found: [Finding] = []
        if facts["NeedDaemonReload"] == "yes" {
            let reason = "its file changed since systemd read it"
            found.append(warning(reason, "run: systemctl daemon-reload"))
        }
        if facts["UnitFileState"].map({ !$0.hasPrefix("enabled") }) ?? false {
            let remedy = "run: systemctl enable expunged.service"
            found.append(warning("it does not start with the machine", remedy))
        }
        // Before the first start it is "infinity", whatever the unit says.
        let watchdog = facts["WatchdogUSec"]
        if watchdog == "0" || watchdog == "infinity" && facts["ActiveState"] == "active" {
            let remedy = "remove WatchdogSec= from the drop-ins; systemctl cat shows them"
            found.append(warning("no watchdog ends the service when it hangs", remedy))
        }
        return found
    }
}

/// The installed unit, as systemctl(1) shows it.
enum ServiceUnit {
    static let name = "expunged.service"

    private static let replaced: Set = [
        "Type", "NotifyAccess", "Sockets", "OOMPolicy", "PIDFile", "StandardOutput",
        "StandardError", "FileDescriptorStoreMax",
    ]
    private static let replacedPrefixes = ["Exec", "Restart", "Timeout", "Watchdog", "Runtime"]

    /// Runs this program again as the service's user, in the sandbox of the unit; returns only when
    /// that is impossible.
    ///
    /// - Throws: ``DaemonError``: why.
    static func runAgain(_ arguments: [String]) throws(DaemonError) -> Never {
        let settings = settings(of: output("systemctl cat \(name)"))
        guard geteuid() == 0, !settings.isEmpty else {
            throw DaemonError(
                .usage,
                "cannot run as the service: that needs root and an installed \(name); without"
                    + " them run expunged --check"
            )
        }
        let facts = output("systemctl show \(name) -p \(UnitFacts.properties)")
            .split(separator: "\n").joined(separator: " ")
        let command =
            ["systemd-run", "--quiet", "--wait", "--collect", "--pipe"]
            + settings.flatMap { ["-p", $0] } + ["-E", "\(UnitFacts.variable)=\(facts)"]
            + ["--", programPath] + arguments
        let pointers = unsafe command.map { unsafe strdup($0) } + [nil]
        unsafe execvp("systemd-run", pointers)
        throw DaemonError(.usage, "cannot run systemd-run: \(ErrorNumber.current)")
    }

    /// The settings of `[Service]` that make user, directories and sandbox, in their order.
    static func settings(of text: String) -> [String] {
        var isService = false
        var found: [String] = []
        for line in text.replacing("\\\n", with: " ").split(separator: "\n") {
            if line.hasPrefix("[") { isService = line == "[Service]" }
            guard isService, let first = line.first, first.isLetter,
                let name = line.split(separator: "=").first, line.contains("="),
                !replaced.contains(String(name)),
                !replacedPrefixes.contains(where: { name.hasPrefix($0) }),
                // systemd-run passes specifiers on as they are.
                !line.contains("%")
            else { continue }
            found.append(String(line))
        }
        return found
    }

    private static var programPath: String {
        var bytes = [CChar](repeating: 0, count: 4096)
        let count = unsafe readlink("/proc/self/exe", &bytes, bytes.count)
        guard count > 0 else { return "/usr/sbin/expunged" }
        return String(decoding: bytes[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// What a command prints; empty when it cannot be run, or not in time.
    static func output(_ command: String) -> String {
        FileBytes.output(of: "timeout 5 \(command) 2>/dev/null", atMost: 1 << 20)
    }
}

/// What systemd knows of the unit; handed on by ``ServiceUnit/runAgain(_:)``.
struct UnitFacts: Sendable {
    static let variable = "EXPUNGED_UNIT_FACTS"
    static let properties = "LoadState,ActiveState,UnitFileState,NeedDaemonReload,WatchdogUSec"

    private let facts: [String: String]

    /// `nil` when systemd does not answer.
    init?(_ environment: [String: String]) {
        let text =
            environment[Self.variable]
            ?? ServiceUnit.output("systemctl show \(ServiceUnit.name) -p \(Self.properties)")
        let pairs = text.split { $0 == "\n" || $0 == " " }.compactMap { line in
            line.firstIndex(of: "=").map { (String(line[..<$0]), String(line[$0...].dropFirst())) }
        }
        guard !pairs.isEmpty else { return nil }
        facts = Dictionary(pairs, uniquingKeysWith: { $1 })
    }

    subscript(name: String) -> String? { facts[name] }
}
