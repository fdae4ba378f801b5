import Encoding
import Lifecycle

extension LookupWork {
    var columnText: String {
        ColumnText.encode([
            .string(directory.rawValue), .bool(isDone), .int(attempts), .int(failures),
            .time(retryAt), .text(lastFailure), .int(outages),
        ])
    }

    init(columnText: String) throws {
        let values = try ColumnText(columnText, "lookup")
        self.init(directory: ProviderName(try values.text(0)))
        isDone = try values.bool(1)
        attempts = try values.int(2)
        failures = try values.int(3)
        retryAt = try values.optional(4, values.time)
        lastFailure = try values.optional(5, values.text)
        outages = try values.int(6)
    }
}
