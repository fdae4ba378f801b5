package import Logging

/// Sends swift-log events to a ``LogQueue``, with the metadata that ``JournalField`` names.
package struct JournalLogHandler: LogHandler {
    package var metadata: Logger.Metadata = [:]
    package var logLevel: Logger.Level
    package var metadataProvider: Logger.MetadataProvider?

    private let queue: LogQueue

    package init(queue: LogQueue, level: Logger.Level = .info) {
        self.queue = queue
        logLevel = level
    }

    package subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    package func log(event: Logging.LogEvent) { write(event) }

    /// Writes an event, and returns the entry that was made of it.
    @discardableResult
    package func write(_ event: Logging.LogEvent) -> LogEntry {
        var facts = metadata
        if let provided = metadataProvider?.get() {
            facts.merge(provided) { _, new in new }
        }
        if let given = event.metadata {
            facts.merge(given) { _, new in new }
        }
        if let error = event.error, facts[JournalField.error.rawValue] == nil {
            facts[JournalField.error.rawValue] = "\(error)"
        }
        let entry = LogEntry(
            level: event.level,
            message: event.message.description,
            metadata: facts
        )
        queue.submit(entry)
        return entry
    }
}
