import Logging
import Synchronization
import Systemd
import Testing

/// What a logger was told: the events of the catalog with their facts.
final class LogBook: Sendable {
    private let notes = Mutex<[String]>([])
    /// Yields after each note.
    let changes: AsyncStream<Void>
    private let change: AsyncStream<Void>.Continuation

    init() { (changes, change) = AsyncStream.makeStream() }

    /// Such as `spoolUnwritable error=disk_full`, in order.
    var all: [String] { notes.withLock { $0 } }

    var logger: Logger { Logger(label: "test") { _ in Handler(book: self) } }

    private struct Handler: LogHandler {
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.debug
        let book: LogBook

        init(book: LogBook) { self.book = book }

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            var facts = event.metadata ?? [:]
            let entry = LogEntry(level: event.level, message: "", metadata: facts)
            let isWhole = !entry.message.hasPrefix("?") && !entry.message.contains(" ?")
            #expect(isWhole, "the event's template needs another fact: \(entry.message)")
            let name = facts.removeValue(forKey: "event").map { "\($0)" } ?? "\(event.message)"
            let words = facts.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
            book.notes.withLock { $0.append(([name] + words).joined(separator: " ")) }
            book.change.yield()
        }
    }
}
