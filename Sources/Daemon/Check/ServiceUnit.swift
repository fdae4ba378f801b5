import Encoding
import Glibc

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
        guard let pipe = unsafe popen("timeout 5 \(command) 2>/dev/null", "r") else { return "" }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = unsafe fread(&chunk, 1, chunk.count, pipe)
            guard count > 0 else { break }
            bytes += chunk[..<count]
        }
        unsafe pclose(pipe)
        return String(decoding: bytes, as: UTF8.self)
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
