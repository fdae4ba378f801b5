/// A yearly rule of offsets, as POSIX writes it in the variable TZ, such as
/// `CET-1CEST,M3.5.0,M10.5.0/3`.
struct TimeZoneRule: Sendable {
    /// When something changes each year.
    fileprivate struct Turn: Sendable {
        enum Day: Sendable {
            /// From 1, without February 29.
            case julian(Int64)
            /// From 0.
            case ordinal(Int64)
            case weekday(month: Int64, week: Int64, day: Int64)
        }

        let day: Day
        /// Since local midnight.
        let seconds: Int64
    }

    private let standard: Int64
    private var summer: (offset: Int64, begin: Turn, end: Turn)?

    /// `nil` for a text of another form.
    init?(_ text: String) {
        var scanner = Scanner(rest: text[...].utf8)
        guard scanner.skipName(), let west = scanner.time() else { return nil }
        standard = -west
        guard !scanner.isAtEnd else { return }
        guard scanner.skipName() else { return nil }
        var offset = standard + 3600
        if scanner.next != UInt8(ascii: ",") {
            guard let west = scanner.time() else { return nil }
            offset = -west
        }
        guard let begin = scanner.turn(), let end = scanner.turn(), scanner.isAtEnd else {
            return nil
        }
        summer = (offset, begin, end)
    }

    /// Seconds east of UTC at a time in Unix seconds.
    func offset(at seconds: Int64) -> Int64 {
        guard let summer else { return standard }
        let time = WallTime(unixMilliseconds: (seconds + standard) * 1000)
        let year = WallTime.civil(fromDays: WallTime.floorDivide(time.unixSeconds, 86_400)).0
        let begin = summer.begin.seconds(in: year) - standard
        let end = summer.end.seconds(in: year) - summer.offset
        let isSummer =
            begin < end
            ? (begin..<end).contains(seconds) : !(end..<begin).contains(seconds)
        return isSummer ? summer.offset : standard
    }
}

extension TimeZoneRule.Turn {
    /// Local seconds since 1970.
    fileprivate func seconds(in year: Int64) -> Int64 {
        let first = WallTime.days(year: year, month: 1, day: 1)
        return day(in: year, from: first) * 86_400 + seconds
    }

    private func day(in year: Int64, from first: Int64) -> Int64 {
        switch day {
        case .ordinal(let number): return first + number
        case .julian(let number):
            let isLeap = WallTime.days(year: year + 1, month: 1, day: 1) - first == 366
            return first + number - 1 + (isLeap && number >= 60 ? 1 : 0)
        case .weekday(let month, let week, let weekday):
            let begin = WallTime.days(year: year, month: month, day: 1)
            let end =
                month == 12
                ? WallTime.days(year: year + 1, month: 1, day: 1)
                : WallTime.days(year: year, month: month + 1, day: 1)
            // 1970-01-01 was a Thursday.
            let shift = ((weekday - (begin + 4)) % 7 + 7) % 7
            let found = begin + shift + (week - 1) * 7
            return found < end ? found : found - 7
        }
    }
}

extension TimeZoneRule {
    fileprivate struct Scanner {
        var rest: Substring.UTF8View

        var isAtEnd: Bool { rest.isEmpty }
        var next: UInt8? { rest.first }

        /// `CET`, or `<+03>`.
        mutating func skipName() -> Bool {
            let isQuoted = skip("<")
            let name = rest.prefix { byte in
                let isLetter = (65...90).contains(byte & 0xdf)
                return isLetter || (isQuoted && byte != UInt8(ascii: ">"))
            }
            rest = rest.dropFirst(name.count)
            return name.count >= 3 && (!isQuoted || skip(">"))
        }

        mutating func skip(_ character: Unicode.Scalar) -> Bool {
            guard let next, next == UInt8(ascii: character) else { return false }
            rest = rest.dropFirst()
            return true
        }

        mutating func number(_ range: ClosedRange<Int64>) -> Int64? {
            let digits = rest.prefix { (48...57).contains($0) }.prefix(4)
            guard !digits.isEmpty else { return nil }
            rest = rest.dropFirst(digits.count)
            let value = digits.reduce(0) { $0 * 10 + Int64($1 - 48) }
            return range.contains(value) ? value : nil
        }

        /// `[+-]hh[:mm[:ss]]` in seconds.
        mutating func time() -> Int64? {
            let isNegative = skip("-")
            if !isNegative { _ = skip("+") }
            guard let hours = number(0...167) else { return nil }
            var seconds = hours * 3600
            for scale in [Int64(60), 1] where skip(":") {
                guard let part = number(0...59) else { return nil }
                seconds += part * scale
            }
            return isNegative ? -seconds : seconds
        }

        /// `,M3.5.0/2`, `,J60` or `,59`.
        mutating func turn() -> Turn? {
            guard skip(","), let day = day() else { return nil }
            guard skip("/") else { return Turn(day: day, seconds: 7200) }
            return time().map { Turn(day: day, seconds: $0) }
        }

        private mutating func day() -> Turn.Day? {
            if skip("J") { return number(1...365).map { .julian($0) } }
            guard skip("M") else { return number(0...365).map { .ordinal($0) } }
            guard let month = number(1...12), skip("."), let week = number(1...5), skip("."),
                let day = number(0...6)
            else { return nil }
            return .weekday(month: month, week: week, day: day)
        }
    }
}
