/// A month of the Gregorian calendar, such as `2026-11`.
package struct CalendarMonth: Hashable, Sendable, TextCodable {
    package let year: Int
    /// 1 to 12.
    package let month: Int

    /// Four digits, a hyphen and two digits, from 1970 on; `nil` for any other text.
    package init?(_ text: String) {
        let bytes = Array(text.utf8)
        guard bytes.count == 7, bytes[4] == UInt8(ascii: "-"), let year = Int(text.prefix(4)),
            let month = Int(text.suffix(2)), year >= 1970, (1...12).contains(month),
            text == Self(year: year, month: month).description
        else { return nil }
        self.init(year: year, month: month)
    }

    package static let first = CalendarMonth(year: 1970, month: 1)

    private init(year: Int, month: Int) { (self.year, self.month) = (year, month) }

    /// The month of a time.
    package init(of time: WallTime, in zone: TimeZoneRules) {
        let local = time + .seconds(zone.offset(at: time))
        let days = WallTime.floorDivide(local.unixMilliseconds, 86_400_000)
        let (year, month, _) = WallTime.civil(fromDays: days)
        self.init(year: Int(year), month: Int(month))
    }

    package var description: String {
        let digits = "\(year * 100 + month)"
        let padded = String(repeating: "0", count: max(0, 6 - digits.count)) + digits
        return padded.prefix(4) + "-" + padded.suffix(2)
    }

    /// The month so many later, or earlier where it is negative.
    package func advanced(by count: Int) -> CalendarMonth {
        let index = year * 12 + month - 1 + count
        return CalendarMonth(year: index / 12, month: index % 12 + 1)
    }

    package func span(in zone: TimeZoneRules) -> Range<WallTime> {
        zone.start(ofDay: firstDay)..<zone.start(ofDay: advanced(by: 1).firstDay)
    }

    /// Its days; one that a zone skipped is empty.
    package func days(in zone: TimeZoneRules) -> [Range<WallTime>] {
        let starts = (firstDay...advanced(by: 1).firstDay).map { zone.start(ofDay: $0) }
        return zip(starts, starts.dropFirst()).map { $0..<max($0, $1) }
    }

    /// Since 1970-01-01.
    private var firstDay: Int64 { WallTime.days(year: Int64(year), month: Int64(month), day: 1) }
}

extension CalendarMonth: Comparable {
    package static func < (left: CalendarMonth, right: CalendarMonth) -> Bool {
        (left.year, left.month) < (right.year, right.month)
    }
}
