/// A point in civil time, in milliseconds since 1970-01-01T00:00:00Z.
///
/// Wall time is what survives a restart; waiting inside the process uses a monotonic clock.
package struct WallTime: Hashable, Sendable, Comparable {
    /// Milliseconds since the Unix epoch, negative before it.
    package let unixMilliseconds: Int64

    package init(unixMilliseconds: Int64) {
        self.unixMilliseconds = unixMilliseconds
    }

    package static func < (left: WallTime, right: WallTime) -> Bool {
        left.unixMilliseconds < right.unixMilliseconds
    }

    /// The time `duration` later, rounded down to whole milliseconds; saturates instead of
    /// overflowing.
    package static func + (time: WallTime, duration: Duration) -> WallTime {
        let (sum, overflow) = time.unixMilliseconds.addingReportingOverflow(duration.milliseconds)
        guard !overflow else { return duration < .zero ? .distantPast : .distantFuture }
        return WallTime(unixMilliseconds: sum)
    }

    package static func - (time: WallTime, duration: Duration) -> WallTime {
        time + (.zero - duration)
    }

    /// How long after `earlier` this time is, negative when it is before; saturates.
    package func since(_ earlier: WallTime) -> Duration {
        let (difference, overflow) =
            unixMilliseconds.subtractingReportingOverflow(earlier.unixMilliseconds)
        guard !overflow else { return .milliseconds(self < earlier ? Int64.min : .max) }
        return .milliseconds(difference)
    }

    package static let distantPast = WallTime(unixMilliseconds: -62_135_596_800_000)
    package static let distantFuture = WallTime(unixMilliseconds: 253_402_300_799_999)
}

extension Duration {
    /// Whole milliseconds, rounded towards zero; saturates at the bounds of `Int64`.
    package var milliseconds: Int64 {
        let (seconds, attoseconds) = components
        let (product, overflow) = seconds.multipliedReportingOverflow(by: 1000)
        guard !overflow else { return seconds < 0 ? .min : .max }
        let (sum, isBeyond) = product.addingReportingOverflow(attoseconds / 1_000_000_000_000_000)
        guard !isBeyond else { return seconds < 0 ? .min : .max }
        return sum
    }
}

extension WallTime: TextCodable {
    package init?(_ text: String) { self.init(rfc3339: text) }

    package var description: String { rfc3339 }

    /// RFC 3339 in UTC with milliseconds, such as `2026-11-21T08:00:00.000Z`.
    package var rfc3339: String {
        var text: [UInt8] = []
        text.reserveCapacity(24)
        appendRFC3339(to: &text)
        return String(decoding: text, as: UTF8.self)
    }

    /// Day, month, year and time in UTC, such as `06 Nov 1994 08:49:37` (RFC 9110 §5.6.7, RFC 5322
    /// §3.3).
    package var internetDate: String {
        let days = Self.floorDivide(unixMilliseconds, 86_400_000)
        let month = Self.monthNames[Int(Self.civil(fromDays: days).1) - 1]
        let text = rfc3339
        let time = text.dropFirst(11).prefix(8)
        return "\(text.dropFirst(8).prefix(2)) \(month) \(text.prefix(4)) \(time)"
    }

    package static let monthNames = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// Appends the bytes of ``rfc3339``.
    package func appendRFC3339(to text: inout [UInt8]) {
        let clamped = min(max(self, .distantPast), .distantFuture)
        let days = Self.floorDivide(clamped.unixMilliseconds, 86_400_000)
        let inDay = clamped.unixMilliseconds - days * 86_400_000
        let (year, month, day) = Self.civil(fromDays: days)
        let (second, millisecond) = (inDay / 1000, inDay % 1000)
        Self.append(year, 1000, UInt8(ascii: "-"), to: &text)
        Self.append(month, 10, UInt8(ascii: "-"), to: &text)
        Self.append(day, 10, UInt8(ascii: "T"), to: &text)
        Self.append(second / 3600, 10, UInt8(ascii: ":"), to: &text)
        Self.append(second / 60 % 60, 10, UInt8(ascii: ":"), to: &text)
        Self.append(second % 60, 10, UInt8(ascii: "."), to: &text)
        Self.append(millisecond, 100, UInt8(ascii: "Z"), to: &text)
    }

    /// Reads RFC 3339 (§5.6) with any offset and up to nine fractional digits.
    ///
    /// A leap second (`:60`) reads as the next second. Returns `nil` for anything else.
    package init?(rfc3339 text: String) {
        var scanner = DigitScanner(text)
        guard let year = scanner.number(4), scanner.skip("-"), let month = scanner.number(2),
            scanner.skip("-"), let day = scanner.number(2), scanner.skip("T", "t", " "),
            let hour = scanner.number(2), scanner.skip(":"), let minute = scanner.number(2),
            scanner.skip(":"), let second = scanner.number(2),
            (1...12).contains(month), (1...31).contains(day), hour < 24, minute < 60, second < 61,
            let fraction = scanner.fractionMilliseconds(), let offset = scanner.offsetMinutes(),
            scanner.isAtEnd
        else { return nil }
        let days = Self.days(year: year, month: month, day: day)
        guard Self.civil(fromDays: days) == (year, month, day) else { return nil }
        let seconds = days * 86_400 + (hour * 60 + minute - offset) * 60 + second
        self.init(unixMilliseconds: seconds * 1000 + fraction)
    }

    /// Appends the digits of `value`, of which the first is worth `scale`, and what ends them.
    private static func append(
        _ value: Int64,
        _ scale: Int64,
        _ end: UInt8,
        to text: inout [UInt8]
    ) {
        var scale = scale
        while scale > 0 {
            text.append(UInt8(ascii: "0") + UInt8(value / scale % 10))
            scale /= 10
        }
        text.append(end)
    }

    static func floorDivide(_ value: Int64, _ divisor: Int64) -> Int64 {
        value >= 0 ? value / divisor : -((-value + divisor - 1) / divisor)
    }

    /// Proleptic Gregorian date of a day number; Howard Hinnant, "chrono-compatible low-level date
    /// algorithms", `civil_from_days`.
    static func civil(fromDays days: Int64) -> (Int64, Int64, Int64) {
        let shifted = days + 719_468
        let era = floorDivide(shifted, 146_097)
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthIndex = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * monthIndex + 2) / 5 + 1
        let month = monthIndex < 10 ? monthIndex + 3 : monthIndex - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day)
    }

    /// The inverse, `days_from_civil`, from the same source.
    static func days(year: Int64, month: Int64, day: Int64) -> Int64 {
        let shiftedYear = month <= 2 ? year - 1 : year
        let era = floorDivide(shiftedYear, 400)
        let yearOfEra = shiftedYear - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
            - 719_468
    }
}

/// Reads fixed-width digits out of ASCII text.
private struct DigitScanner {
    private var rest: Substring.UTF8View

    init(_ text: String) { rest = text[...].utf8 }

    var isAtEnd: Bool { rest.isEmpty }

    mutating func number(_ width: Int) -> Int64? {
        guard rest.count >= width else { return nil }
        var value: Int64 = 0
        for _ in 0..<width {
            guard let byte = rest.popFirst(), (48...57).contains(byte) else { return nil }
            value = value * 10 + Int64(byte - 48)
        }
        return value
    }

    mutating func skip(_ accepted: Unicode.Scalar...) -> Bool {
        guard let first = rest.first, accepted.contains(Unicode.Scalar(first)) else { return false }
        rest.removeFirst()
        return true
    }

    mutating func fractionMilliseconds() -> Int64? {
        guard skip(".") else { return 0 }
        var value: Int64 = 0
        var digits = 0
        while let byte = rest.first, (48...57).contains(byte) {
            rest.removeFirst()
            if digits < 3 { value = value * 10 + Int64(byte - 48) }
            digits += 1
        }
        guard (1...9).contains(digits) else { return nil }
        for _ in min(digits, 3)..<3 { value *= 10 }
        return value
    }

    mutating func offsetMinutes() -> Int64? {
        if skip("Z", "z") { return 0 }
        let isNegative = rest.first == UInt8(ascii: "-")
        guard skip("+", "-"), let hours = number(2), skip(":"), let minutes = number(2),
            hours < 24, minutes < 60
        else { return nil }
        return (isNegative ? -1 : 1) * (hours * 60 + minutes)
    }
}
