import Lifecycle

/// The lookup of a request as one column: `directory state attempts failures retry failure`.
///
/// The state is `open` or `done`, a missing value is `-`: `firebase open 2 2 1789000000000 lost`.
enum LookupText {
    static func encode(_ lookup: LookupWork?) -> String? {
        guard let lookup else { return nil }
        let retryAt = lookup.retryAt.map { String($0.unixMilliseconds) } ?? "-"
        return [
            lookup.directory.rawValue, lookup.isDone ? "done" : "open", String(lookup.attempts),
            String(lookup.failures), retryAt, lookup.lastFailure ?? "-",
        ].joined(separator: " ")
    }

    static func decode(_ text: String?) throws -> LookupWork? {
        guard let text else { return nil }
        let fields = text.split(separator: " ").map(String.init)
        guard fields.count == 6, ["open", "done"].contains(fields[1]),
            let attempts = Int(fields[2]), let failures = Int(fields[3]),
            fields[4] == "-" || Int64(fields[4]) != nil
        else { throw StorageError.malformed("lookup") }
        var lookup = LookupWork(directory: ProviderName(fields[0]))
        lookup.isDone = fields[1] == "done"
        lookup.attempts = attempts
        lookup.failures = failures
        lookup.retryAt = Int64(fields[4]).map { WallTime(unixMilliseconds: $0) }
        lookup.lastFailure = fields[5] == "-" ? nil : fields[5]
        return lookup
    }
}
