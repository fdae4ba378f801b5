import CLinux
import Glibc
import Logging
import Synchronization
import Testing

@testable import Systemd

@Suite("Log queue", .timeLimit(.minutes(10)))
struct LogQueueTests {
    @Test("entries come out in the order in which they went in")
    func order() throws {
        let output = RecordingOutput()
        let queue = try LogQueue(output: output.write)
        defer { queue.close() }
        for number in 0..<100 { queue.submit(entry("\(number)")) }
        #expect(queue.flush(timeout: .seconds(120)))
        #expect(output.messages == (0..<100).map { "\($0)" })
    }

    @Test("a blocked output stops no caller, and what was dropped is counted and told")
    func blocked() throws {
        let output = RecordingOutput()
        let queue = try LogQueue(capacity: 10, output: output.write)
        defer { queue.close() }
        output.block()
        queue.submit(entry("first"))
        output.awaitBlocked()
        for number in 0..<50 { queue.submit(entry("\(number)", level: .notice)) }
        #expect(!queue.flush(timeout: .zero))
        output.unblock()
        #expect(queue.flush(timeout: .seconds(120)))
        queue.submit(entry("last"))
        #expect(queue.flush(timeout: .seconds(120)))
        let expected = ["first"] + (0..<10).map { "\($0)" } + ["last"]
        #expect(output.messages.filter { $0 != "journal entries dropped: 40" } == expected)
        #expect(output.counts == ["40"])
    }

    @Test("information makes room for notifications before the queue is full")
    func priorities() throws {
        let output = RecordingOutput()
        let queue = try LogQueue(capacity: 10, output: output.write)
        defer { queue.close() }
        output.block()
        queue.submit(entry("first"))
        output.awaitBlocked()
        for number in 0..<10 { queue.submit(entry("info \(number)")) }
        for number in 0..<10 { queue.submit(entry("error \(number)", level: .error)) }
        output.unblock()
        #expect(queue.flush(timeout: .seconds(120)))
        #expect(output.messages.filter { $0.hasPrefix("info") }.count == 5)
        #expect(output.messages.filter { $0.hasPrefix("error") }.count == 5)
    }

    @Test("an entry that the output refuses is counted")
    func refused() throws {
        let output = RecordingOutput()
        let queue = try LogQueue(output: output.write)
        defer { queue.close() }
        output.refuse("bad")
        queue.submit(entry("bad"))
        #expect(queue.flush(timeout: .seconds(120)))
        queue.submit(entry("good"))
        #expect(queue.flush(timeout: .seconds(120)))
        queue.submit(entry("again"))
        #expect(queue.flush(timeout: .seconds(120)))
        #expect(output.counts == ["1"])
    }

    @Test("the handler merges metadata, the innermost last, and keeps the error")
    func handler() throws {
        struct Failure: Error, CustomStringConvertible { let description = "no answer" }
        let output = RecordingOutput()
        let queue = try LogQueue(output: output.write)
        defer { queue.close() }
        let copies = Mutex<[LogEntry]>([])
        var handler = JournalLogHandler(queue: queue) { entry in
            copies.withLock { $0.append(entry) }
        }
        handler.metadataProvider = .init { ["provider": "provided", "step": "provided"] }
        handler[metadataKey: "provider"] = "handler"
        handler[metadataKey: "store"] = "handler"
        let logger = Logger(label: "test") { _ in handler }
        logger.error("cannot revoke", error: Failure(), metadata: ["step": "call"])
        logger.debug("not at this level")
        #expect(queue.flush(timeout: .seconds(120)))
        let written = try #require(output.entries.first)
        #expect(output.entries.count == 1)
        #expect(copies.withLock { $0 } == [written])
        #expect(
            written.journalFields.dropFirst(3) == [
                "EXPUNGED_PROVIDER=provided", "EXPUNGED_STORE=handler", "EXPUNGED_STEP=call",
                "EXPUNGED_ERROR=no answer",
            ]
        )
    }

    @Test("the journal is chosen only when standard error is connected to it")
    func choose() throws {
        var pipe: [Int32] = [0, 0]
        try #require(unsafe Glibc.pipe(&pipe) == 0)
        defer { for end in pipe { close(end) } }
        var status = stat()
        try #require(unsafe fstat(pipe[1], &status) == 0)
        let stream = "\(status.st_dev):\(status.st_ino)"
        #expect(
            LogOutput.choose(environment: ["JOURNAL_STREAM": stream], descriptor: pipe[1])
                == .journal
        )
        #expect(
            LogOutput.choose(environment: ["JOURNAL_STREAM": "1:2"], descriptor: pipe[1])
                == .standardError
        )
        #expect(LogOutput.choose(environment: [:], descriptor: pipe[1]) == .standardError)
    }

    private func entry(_ message: String, level: Logger.Level = .info) -> LogEntry {
        LogEntry(level: level, message: message, metadata: [:])
    }
}

/// Remembers what was written; can block like a journal that does not read.
private final class RecordingOutput: Sendable {
    private let state = Mutex(State())
    private let blocked = clinux_event_make()
    private let released = clinux_event_make()

    private struct State {
        var entries: [LogEntry] = []
        var isBlocking = false
        var refused: String?
    }

    deinit {
        close(blocked)
        close(released)
    }

    var entries: [LogEntry] { state.withLock { $0.entries } }
    var messages: [String] { entries.map(\.message) }
    var counts: [String] {
        entries.flatMap(\.fields).filter { $0.name == .count }.map(\.value)
    }

    var write: @Sendable (LogEntry) -> Bool {
        { entry in
            let (mustWait, isRefused) = self.state.withLock { state in
                defer {
                    state.isBlocking = false
                    state.refused = state.refused == entry.message ? nil : state.refused
                }
                return (state.isBlocking, state.refused == entry.message)
            }
            if mustWait {
                clinux_event_signal(self.blocked)
                clinux_event_wait(self.released, 300_000)
            }
            guard !isRefused else { return false }
            self.state.withLock { $0.entries.append(entry) }
            return true
        }
    }

    func block() { state.withLock { $0.isBlocking = true } }
    func awaitBlocked() { clinux_event_wait(blocked, 300_000) }
    func unblock() { clinux_event_signal(released) }
    func refuse(_ message: String) { state.withLock { $0.refused = message } }
}
