import ArgumentParser

/// Reads durations with a unit: `200ms`, `30s`, `10m`, `2h`, `1d`, with a sign before them if need
/// be.
enum TimeSpan {
    private static let units: [(suffix: String, milliseconds: Int64)] = [
        ("ms", 1), ("s", 1000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000),
    ]

    static func milliseconds(_ text: String) throws -> Int64 {
        for (suffix, factor) in units where text.hasSuffix(suffix) {
            guard let count = Int64(text.dropLast(suffix.count)) else { continue }
            let (result, isTooLong) = count.multipliedReportingOverflow(by: factor)
            guard !isTooLong else { break }
            return result
        }
        throw ValidationError("'\(text)' is not a duration with a unit, such as 10m.")
    }
}
