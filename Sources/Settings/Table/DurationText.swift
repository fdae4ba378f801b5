/// Durations as operators write them: `30s`, `7d`, `1h30m`.
///
/// Units are ms, s, m, h, d and w, largest first, each at most once and none left out.
package enum DurationText {
    private static let units: [(name: String, milliseconds: Int64)] = [
        ("w", 604_800_000), ("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1000),
        ("ms", 1),
    ]

    /// `nil` also for one that does not fit.
    package static func parse(_ text: String) -> Duration? {
        var rest = text.utf8[...]
        var total: Int64 = 0
        var remainingUnits = units[...]
        guard !rest.isEmpty else { return nil }
        while !rest.isEmpty {
            let digits = rest.prefix { (0x30...0x39).contains($0) }
            // 15 digits of the largest unit still fit after the multiplication check.
            guard (1...15).contains(digits.count), let number = Int64(String(Substring(digits)))
            else { return nil }
            rest = rest.dropFirst(digits.count)
            let letters = rest.prefix { (0x61...0x7a).contains($0) }
            rest = rest.dropFirst(letters.count)
            let name = String(Substring(letters))
            guard let position = remainingUnits.firstIndex(where: { $0.name == name })
            else { return nil }
            let (product, overflow) = number.multipliedReportingOverflow(
                by: remainingUnits[position].milliseconds
            )
            let (sum, carry) = total.addingReportingOverflow(product)
            guard !overflow, !carry else { return nil }
            total = sum
            remainingUnits = remainingUnits[(position + 1)...]
        }
        return .milliseconds(total)
    }

    /// The shortest text that reads back as `duration`, which is not negative; without weeks.
    package static func format(_ duration: Duration) -> String {
        var (seconds, attoseconds) = duration.components
        guard seconds >= 0, attoseconds >= 0 else { return "0s" }
        let milliseconds = attoseconds / 1_000_000_000_000_000
        var text = ""
        for (name, size) in units.dropFirst().dropLast() {
            let size = size / 1000
            if seconds >= size {
                text += "\(seconds / size)\(name)"
                seconds %= size
            }
        }
        if milliseconds > 0 { text += "\(milliseconds)ms" }
        return text.isEmpty ? "0s" : text
    }
}

extension Duration {
    /// Days of 86,400 seconds.
    package static func days(_ count: Int64) -> Duration { .seconds(count * 86_400) }
}
