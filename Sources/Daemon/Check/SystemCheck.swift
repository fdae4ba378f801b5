import Encoding
import Engine
import Glibc
import HTTP
import Lifecycle
import Logging
import Settings
import Systemd

/// Checks everything that the service works with, as the user that runs it, and changes nothing.
struct SystemCheck: Sendable {
    /// More than the clocks of servers and a slow answer differ.
    static let clockDifferenceMax = Duration.seconds(30)

    let options: DaemonOptions
    let environment: [String: String]
    /// Given, from systemd, or where the unit puts them.
    let folders: ServiceDirectories
    var machine = Machine()

    /// What a test replaces.
    struct Machine: Sendable {
        var now: @Sendable () -> WallTime = { [clock = AnchoredClock()] in clock.now() }
        var journalSocket = "/run/systemd/journal/socket"
        var systemd = "/run/systemd/system"
        var space: @Sendable (String) -> DiskSpace? = { DiskSpace(of: $0) }
        var user = geteuid()
        /// State and credentials of the unit.
        var unitFolders = [DaemonOptions.stateOfUnit, DaemonOptions.credentialsOfUnit]
    }

    static let silent = Logger(label: "expunged") { _ in SwiftLogNoOpLogHandler() }

    /// Returns what is wrong, in the order of the configuration and then of the machine.
    func run() async -> [Finding] {
        var found: [Finding] = []
        let closed = closedFinding
        do throws(ConfigurationError) {
            let configuration = try DaemonConfiguration.load(
                path: options.configurationPath,
                environment: environment
            )
            found += configuration.cautions.map {
                Finding(.warning, at: options.configurationPath, $0, remedy: Remedy.caution)
            }
            if closed == nil {
                let dates = ServerDates(now: machine.now)
                found += await ServerDates.$current.withValue(dates) {
                    await startFindings(configuration)
                }
                found += [clockFinding(dates.difference)].compactMap(\.self)
                found += approvalFindings(configuration)
            }
            found += groupFindings(configuration)
        } catch {
            found += Self.findings(of: error)
            if closed == nil { found += folderFindings() }
        }
        found += [closed].compactMap(\.self) + unitFindings()
        var seen: Set<Finding> = []
        return found.filter { seen.insert($0).inserted }
    }

    /// Where the unit's directories are to be checked, and belong to another user.
    private var closedFinding: Finding? {
        let isClosed = machine.unitFolders.contains { path in
            var status = stat()
            return unsafe stat(path, &status) == 0 && status.st_uid != machine.user
        }
        let checked = [folders.state, folders.credentials?.path ?? ""]
        guard isClosed, checked == machine.unitFolders else { return nil }
        let reason = "only the service's user has the permission to use them"
        let place = "state, keys, providers and stores"
        return Finding(.unexamined, at: place, reason, remedy: "run: sudo expungectl doctor")
    }

    private static func findings(of error: ConfigurationError) -> [Finding] {
        error.problems.map { problem in
            var found = Finding(at: problem.place, problem.reason, remedy: Remedy.of(problem))
            found.code = problem.kind.rawValue
            return found
        }
    }

    private func clockFinding(_ difference: Duration?) -> Finding? {
        guard let difference, difference.magnitude > Self.clockDifferenceMax else { return nil }
        let seconds = difference.magnitude.milliseconds / 1000
        return Finding(
            at: "clock",
            "this machine is \(seconds) s \(difference > .zero ? "ahead of" : "behind") the servers"
                + " that were asked",
            remedy: "set the clock, and keep it: timedatectl set-ntp true"
                + " (docs/guides/maintenance.md#the-clock)"
        )
    }

    /// - Returns: The text that the program prints, and its exit status.
    static func report(
        _ found: [Finding],
        asJSON: Bool,
        _ path: String,
        shareable configuration: String? = nil
    ) -> (String, ExitStatus) {
        let errors = found.count { $0.severity == .error }
        let isExamined = !found.contains { $0.severity == .unexamined }
        let status = errors > 0 ? ExitStatus.findings : isExamined ? .done : .unexamined
        guard !asJSON else {
            let json: JSONValue = [
                "ok": .bool(status == .done), "findings": .array(found.map(\.json)),
                "configuration": JSONValue(configuration),
            ]
            return (String(json.indentedText.dropLast()), status)
        }
        let warnings = found.count { $0.severity == .warning }
        let counted = { (count: Int, noun: String) in "\(count) \(noun)\(count == 1 ? "" : "s")" }
        let end =
            found.isEmpty
            ? "'\(path)' and everything that it names is fine"
            : counted(errors, "error") + ", " + counted(warnings, "warning")
        return ((found.map(\.text) + [end]).joined(separator: "\n"), status)
    }

    func groupFindings(_ configuration: DaemonConfiguration) -> [Finding] {
        let server = configuration.server
        let groups: [(key: String, name: String?)] = [
            ("server.operator_group", server.operatorGroup),
            ("server.submit_group", server.submitGroup),
            ("server.viewer_group", server.viewerGroup),
        ]
        return groups.compactMap { key, name -> Finding? in
            do throws(DaemonError) {
                _ = try SocketGroup.id(of: name, key)
                return nil
            } catch {
                let place = place(of: key, in: configuration) + ": \(key)"
                let reason =
                    "the system knows no group '\(name ?? "")': only root and the service's user"
                    + " can use the socket"
                let remedy = "create it with groupadd --system, or correct the name"
                return Finding(at: place, reason, remedy: remedy)
            }
        }
    }
}

extension Duration {
    fileprivate var magnitude: Duration { self < .zero ? .zero - self : self }
}

/// What is free on the file system of a directory.
struct DiskSpace: Sendable, Hashable {
    var freeBytes: UInt64
    var freeFiles: UInt64
    var isReadOnly = false
}

extension DiskSpace {
    /// `nil` when the directory cannot be asked.
    init?(of path: String) {
        var status = statvfs()
        guard unsafe statvfs(path, &status) == 0 else { return nil }
        freeBytes = UInt64(status.f_bavail) * UInt64(status.f_frsize)
        // Some file systems make their inodes as they go and count none.
        freeFiles = status.f_files == 0 ? .max : UInt64(status.f_favail)
        isReadOnly = status.f_flag & 1 != 0  // ST_RDONLY of statvfs(3)
    }
}

/// One thing that `expunged --check` found.
struct Finding: Sendable, Hashable {
    enum Severity: String, Sendable {
        /// Something does not work until it is mended.
        case error
        case warning
        /// The check could not read it.
        case unexamined = "not examined"
    }

    let severity: Severity
    /// File and line, or the object.
    let place: String
    let reason: String
    let remedy: String
    /// The kind of a problem of the configuration.
    var code: String?

    init(_ severity: Severity = .error, at place: String, _ reason: String, remedy: String) {
        self.severity = severity
        self.place = LogText.sanitized(place)
        self.reason = LogText.sanitized(reason)
        self.remedy = LogText.sanitized(remedy)
    }

    var text: String {
        let hint = severity == .unexamined ? "; " : "\nhint: "
        return "\(severity.rawValue): \(place): \(reason)\(hint)\(remedy)"
    }

    var json: JSONValue {
        [
            "severity": .string(severity.rawValue), "place": .string(place),
            "reason": .string(reason), "remedy": .string(remedy), "code": JSONValue(code),
        ]
    }
}
