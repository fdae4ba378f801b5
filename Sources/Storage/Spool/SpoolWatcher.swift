import CLinux
import Engine
import Glibc
import Lifecycle
import Synchronization

/// Wakes when a process changed the spool (inotify(7) on its directory); costs nothing while none
/// does.
///
/// Its thread sleeps in poll(2). It wakes its reader for what can be a commit, and not for a
/// journal that is being written: reading would only be in the writer's way. Every
/// ``SpoolLimits/sweepInterval`` it compares the file's times without opening it.
final class SpoolWatcher: Sendable {
    var wakes: AsyncStream<Void> { wake.signals }

    private let directory: String
    private let name: String
    private let sweepInterval: Duration
    private let inotify: Int32
    private let event: Int32
    private let wake = WakeSignal()
    private let state = Mutex(State())

    private struct State {
        var isStopped = false
        var isAlert = false
        var isSweepDue = false
        var sweepCount = 0
        /// The watch's number; negative while there is no directory.
        var watch: Int32 = -1
        var seen: [Int] = []
    }

    /// Watches from now on; neither the file nor its directory need exist.
    ///
    /// - Throws: ``StorageError`` when the kernel has no descriptor or thread left.
    init(path: String, sweepInterval: Duration) throws(StorageError) {
        name = WALFile.name(ofPath: path)
        let parent = path.dropLast(name.utf8.count)
        directory = parent.isEmpty ? "." : String(parent)
        self.sweepInterval = sweepInterval
        inotify = inotify_init1(Int32(O_NONBLOCK | O_CLOEXEC))
        event = clinux_event_make()
        guard inotify >= 0, event >= 0 else {
            throw StorageError(.unopenable, "watch the spool", at: name, errno: errno)
        }
        addWatch()
        let first = look()
        state.withLock { $0.seen = first }
        let context = unsafe Unmanaged.passRetained(self)
        let answer = unsafe clinux_thread_start(
            "expunged-spool",
            { context in
                guard let context = unsafe context else { return }
                unsafe Unmanaged<SpoolWatcher>.fromOpaque(context).takeRetainedValue().run()
            },
            context.toOpaque()
        )
        guard answer == 0 else {
            unsafe context.release()
            throw StorageError(.unopenable, "watch the spool", at: name, errno: -answer)
        }
    }

    deinit {
        // The thread owns a reference, so it has ended.
        if inotify >= 0 { close(inotify) }
        if event >= 0 { close(event) }
    }

    /// Ends the thread and then the stream.
    func stop() {
        state.withLock { $0.isStopped = true }
        clinux_event_signal(event)
    }

    func setAlert(_ isAlert: Bool) { state.withLock { $0.isAlert = isAlert } }

    func takeSweep() -> Bool {
        state.withLock { state in
            defer { state.isSweepDue = false }
            return state.isSweepDue
        }
    }

    /// Sweeps since the start; for tests.
    var sweepCount: Int { state.withLock { $0.sweepCount } }

    // MARK: The thread

    private func run() {
        var sweepAt = BootClock.now + sweepInterval
        while !state.withLock({ $0.isStopped }) {
            let rest = sweepAt - BootClock.now
            if rest <= .zero {
                sweepAt = BootClock.now + sweepInterval
                if state.withLock({ $0.watch < 0 }) { addWatch() }
                sweep()
                continue
            }
            sleepUntilEvent(rest)
            let update = readEvents()
            if update.isWatchLost { addWatch() }
            if update.isWake { wake.send() }
        }
        wake.finish()
    }

    private func sleepUntilEvent(_ rest: Duration) {
        var waiting = [
            pollfd(fd: inotify, events: Int16(POLLIN), revents: 0),
            pollfd(fd: event, events: Int16(POLLIN), revents: 0),
        ]
        // Rounded up, so that the last millisecond is not spun through.
        let milliseconds = Int32(clamping: rest.milliseconds + 1)
        // An interrupted sleep is one more turn.
        _ = unsafe poll(&waiting, nfds_t(waiting.count), milliseconds)
    }

    private func sweep() {
        let now = look()
        let mustWake = state.withLock { state in
            defer { state.seen = now }
            state.sweepCount += 1
            guard state.isAlert || now != state.seen else { return false }
            state.isSweepDue = true
            return true
        }
        if mustWake { wake.send() }
    }

    private var path: String {
        directory.hasSuffix("/") ? directory + name : directory + "/" + name
    }

    /// What a sweep compares: the file, its times, whether it has a journal, and its WAL.
    ///
    /// stat(2) only: closing a second descriptor of a database drops SQLite's locks.
    private func look() -> [Int] {
        var status = stat()
        var seen: [Int] = []
        if unsafe lstat(path, &status) == 0 {
            let times = [status.st_ctim, status.st_mtim].flatMap { [$0.tv_sec, $0.tv_nsec] }
            seen = [Int(truncatingIfNeeded: status.st_ino), Int(status.st_size)] + times
        }
        let hasJournal = unsafe lstat(path + "-journal", &status) == 0
        let walSize = unsafe lstat(path + "-wal", &status) == 0 ? Int(status.st_size) : -1
        return seen + [hasJournal ? 1 : 0, walSize]
    }

    private func addWatch() {
        let mask =
            UInt32(IN_MODIFY) | UInt32(IN_DELETE) | UInt32(IN_CREATE) | UInt32(IN_ATTRIB)
            | UInt32(IN_MOVED_TO) | UInt32(IN_MOVED_FROM) | UInt32(IN_DELETE_SELF)
            | UInt32(IN_MOVE_SELF) | UInt32(IN_ONLYDIR)
        let watch = unsafe inotify_add_watch(inotify, directory, mask)
        state.withLock { $0.watch = watch }
    }

    private func readEvents() -> (isWake: Bool, isWatchLost: Bool) {
        let watch = state.withLock { $0.watch }
        var isWake = false
        var isWatchLost = false
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = unsafe buffer.withUnsafeMutableBytes { bytes in
                unsafe read(inotify, bytes.baseAddress, bytes.count)
            }
            guard count > 0 else { return (isWake, isWatchLost) }
            for event in Self.parse(buffer[..<count]) {
                // A full queue has lost events; a directory that goes takes its watch along.
                isWatchLost =
                    isWatchLost || (event.watch == watch && event.mask & Self.lostMask != 0)
                isWake =
                    isWake || isWatchLost || event.mask & UInt32(IN_Q_OVERFLOW) != 0
                    || isCommitLike(event)
            }
        }
    }

    private static let lostMask =
        UInt32(IN_DELETE_SELF) | UInt32(IN_MOVE_SELF) | UInt32(IN_IGNORED) | UInt32(IN_UNMOUNT)

    private func isCommitLike(_ event: Event) -> Bool {
        switch event.name {
        case name, name + "-wal": true
        case name + "-journal": event.mask & (UInt32(IN_DELETE) | UInt32(IN_MOVED_FROM)) != 0
        default: false
        }
    }

    private struct Event {
        let watch: Int32
        let mask: UInt32
        let name: String
    }

    /// `struct inotify_event`: watch, mask, cookie, length of the name, name with padding.
    private static func parse(_ bytes: ArraySlice<UInt8>) -> [Event] {
        var events: [Event] = []
        var rest = bytes
        func word(_ index: Int) -> UInt32 {
            let start = rest.startIndex + index * 4
            return rest[start..<start + 4].reversed().reduce(0) { $0 << 8 | UInt32($1) }
        }
        while rest.count >= 16 {
            let nameEnd = 16 + Int(word(3))
            guard rest.count >= nameEnd else { break }
            let name = rest.dropFirst(16).prefix(nameEnd - 16).prefix { $0 != 0 }
            events.append(
                Event(
                    watch: Int32(bitPattern: word(0)),
                    mask: word(1),
                    name: String(decoding: name, as: UTF8.self)
                )
            )
            rest = rest.dropFirst(nameEnd)
        }
        return events
    }
}
