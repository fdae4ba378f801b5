import ArgumentParser
import Control
import Lifecycle

/// What was restored, a line each: `SINCE [TARGET [RESTORED-AT]]`.
///
/// Without a target all of them are meant. Empty lines and those that begin with `#` say nothing.
struct ReplayFile {
    /// In the order of the file; at least one.
    let orders: [ReplayTerms]

    /// Reads the content of a file.
    ///
    /// - Throws: `ValidationError` that names the line and what is expected there.
    init(_ bytes: [UInt8]) throws {
        var orders: [ReplayTerms] = []
        let lines = String(decoding: bytes, as: UTF8.self)
            .split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        for (index, line) in lines.enumerated() {
            let words = line.split(whereSeparator: \.isWhitespace).map(String.init)
            guard let first = words.first, !first.hasPrefix("#") else { continue }
            guard let order = Self.order(words) else {
                throw ValidationError(
                    "line \(index + 1) of the file must be a time such as 2026-11-21T08:00:00Z,"
                        + " then, if not all is meant, a target, then, if that one dates what it"
                        + " has by the restoration, the time of its end"
                )
            }
            orders.append(order)
        }
        guard !orders.isEmpty else {
            throw ValidationError("the file has no line with a time such as 2026-11-21T08:00:00Z")
        }
        self.orders = orders
    }

    private static func order(_ words: [String]) -> ReplayTerms? {
        guard words.count <= 3, let since = WallTime(rfc3339: words[0]) else { return nil }
        let target = words.count > 1 ? TargetName(argument: words[1]) : nil
        guard words.count == 1 || target != nil else { return nil }
        var order = ReplayTerms(since: since, target: target)
        if words.count > 2 {
            guard let time = WallTime(rfc3339: words[2]) else { return nil }
            order.restoredAt = time
        }
        return order
    }
}
