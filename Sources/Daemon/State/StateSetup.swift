import CLinux
import Encoding
import Engine
import Glibc
import Lifecycle
import PostgreSQL
import Settings
import Storage
import Systemd

/// The state as one process works on it.
struct OpenState: Sendable {
    let state: StateDatabase
    /// `nil` for a state in a file, which one host has for itself.
    let shared: SharedDatabase?
    /// The name of this host; `nil` for a state in a file.
    let host: String?
    /// How the process before this one ended in this directory.
    let marker: CrashMarker
    /// Of the directory; a state in a file has one by itself.
    let lock: StateLock?

    /// Waits for what is queued, and gives the state back.
    func close() async throws {
        if let shared { try await shared.close() } else { try await state.close() }
        lock?.release()
    }
}

/// Opens the state that the configuration names.
struct StateSetup: Sendable {
    let configuration: DaemonConfiguration
    let directories: ServiceDirectories

    private static let fileName = "state.db"
    /// Beside the checkpoints, which show a loss that is older.
    private static let commitsName = "commits"

    /// Where a state in a file is.
    var path: String { directories.state + "/" + Self.fileName }

    /// Takes the directory's lock, and then the state.
    ///
    /// - Throws: ``Storage/StorageError``, ``Systemd/SystemdError``, or ``DaemonError``: another
    ///   host works on the state, and the configuration does not let them share.
    func open(now: @escaping @Sendable () -> WallTime) async throws -> OpenState {
        guard configuration.state.kind == .postgresql else {
            let state = try StateDatabase.open(path: path, now: now)
            return OpenState(
                state: state,
                shared: nil,
                host: nil,
                marker: try CrashMarker(directory: directories.state),
                lock: nil
            )
        }
        try Self.refuseFile(at: path)
        var plan = try plan(now: now)
        plan.commitRecordPath = (directories.logs ?? directories.state) + "/" + Self.commitsName
        let lock = try StateLock(ofStateAt: path)
        let marker = try CrashMarker(directory: directories.state)
        let shared = try SharedDatabase.open(
            plan,
            purgesPerHourMax: configuration.requests.maxDeletionsPerHour,
            isOwnCrash: marker.lastEnd == .crash,
            isAlone: true,
            now: now
        )
        do {
            try Self.refuse(try await shared.otherHosts())
        } catch {
            try await shared.close()
            throw error
        }
        return OpenState(
            state: shared.state,
            shared: shared,
            host: plan.host,
            marker: marker,
            lock: lock
        )
    }

    /// What a file of the state has would be forgotten.
    static func refuseFile(at path: String) throws(DaemonError) {
        guard unsafe access(path, F_OK) == 0 else { return }
        throw DaemonError(
            .configuration,
            "cannot work on a state in PostgreSQL (file_left): '\(path)' has a state, whose"
                + " requests would be forgotten; move it to the server with"
                + " 'expunged state migrate --from sqlite'"
        )
    }

    /// One host waits until the other is gone.
    static func refuse(_ others: [String]) throws(DaemonError) {
        guard !others.isEmpty else { return }
        let names = others.map { "'\($0)'" }.joined(separator: ", ")
        throw DaemonError(
            .state,
            "cannot work on the state (in_use): host \(names) does; this host takes over when"
                + " that one has stopped, or 5 s after it is gone"
        )
    }

    /// How the state in PostgreSQL is reached.
    func plan(now: @escaping @Sendable () -> WallTime) throws -> PostgreSQLStatePlan {
        let state = configuration.state
        guard let credentials = directories.credentials, let name = state.conninfoCredential else {
            throw DaemonError(
                .credential,
                "cannot read the state's connection string: there is no credentials directory"
            )
        }
        var generator = SystemRandomNumberGenerator()
        return PostgreSQLStatePlan(
            conninfo: try credentials.read(name),
            tls: state.tls,
            caFile: state.caFile,
            host: try state.host ?? Self.machineName(),
            session: TimeOrderedID(at: now(), entropy: &generator),
            uptime: MachineClocks.system.uptime
        )
    }

    /// The first label of the machine's name (gethostname(2)).
    private static func machineName() throws(DaemonError) -> String {
        var buffer = [CChar](repeating: 0, count: 256)
        let isRead = unsafe gethostname(&buffer, buffer.count - 1) == 0
        let bytes = buffer.prefix { $0 != 0 && $0 != 0x2e }.map { UInt8(bitPattern: $0) }
        let name = String(decoding: bytes, as: UTF8.self).lowercased()
        guard isRead, TextRule.name.accepts(name) else {
            throw DaemonError(
                .configuration,
                "cannot use the machine's name '\(LogText.sanitized(name))' for this host"
                    + " (malformed): set state.host; it is \(TextRule.name.requirement)"
            )
        }
        return name
    }
}

/// Distinguishes a crash of our own from a kill, across the restart.
struct CrashMarker: Sendable {
    /// How the last process ended, if not in peace.
    enum End: String {
        /// By its own fault or for lack of memory (`ExecStopPost=` of the unit): the same work may
        /// cause that again.
        case crash = "own_crash"
        /// A mapped file lost a page, or its disk failed; no work causes that again.
        case busError = "bus_error"
        /// From outside, or by a power cut.
        case killed
        /// It is of no account: the state is that of a backup.
        case restored
    }

    static let fileName = "crash-marker"
    /// No signal has this number.
    static let restored: UInt8 = 0

    let lastEnd: End
    /// The state is that of a backup, and no start has come to its end since.
    let isRestored: Bool
    private let directory: String
    /// Open until the process ends: a handler may write to it at any time.
    private let descriptor: Int32

    static func path(in directory: String) -> String { directory + "/" + fileName }

    /// Reads the marker, and installs the handlers that set it.
    init(directory: String) throws(DaemonError) {
        self.directory = directory
        let path = Self.path(in: directory)
        let flags = O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW
        descriptor = unsafe open(path, flags, 0o600)
        guard descriptor >= 0 else {
            let cause = ErrorNumber.current
            throw DaemonError(.state, "cannot open the crash marker at '\(path)' (\(cause))")
        }
        (isRestored, lastEnd) = Self.read(descriptor)
        guard clinux_install_crash_marker(descriptor) >= 0 else {
            throw DaemonError(.state, "cannot set up the crash marker at '\(path)'")
        }
        // In front of that handler: a file that others cut short ends its own connection only.
        guard StateDatabase.surviveFaults() else {
            throw DaemonError(.state, "cannot set up a handler for SIGBUS (\(ErrorNumber.current))")
        }
    }

    /// Clears the marker before the last step of the start; until then it counts for the next one.
    func clear() throws(DaemonError) {
        guard ftruncate(descriptor, 0) == 0, fsync(descriptor) == 0 else {
            throw BackupFile.failure("clear", Self.path(in: directory))
        }
        try BackupFolder.sync(directory)
    }

    /// A crash during a start follows what was there, and a restore begins the file.
    static func read(_ descriptor: Int32) -> (isRestored: Bool, lastEnd: End) {
        var (first, last) = (UInt8(0), UInt8(0))
        let size = lseek(descriptor, 0, SEEK_END)
        guard size > 0, unsafe pread(descriptor, &first, 1, 0) == 1,
            unsafe pread(descriptor, &last, 1, size - 1) == 1
        else { return (false, .killed) }
        let end: End = last == restored ? .restored : Int32(last) == SIGBUS ? .busError : .crash
        return (first == restored, end)
    }
}
