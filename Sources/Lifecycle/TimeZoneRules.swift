/// The offsets of a time zone from UTC, as a file of the IANA database gives them (RFC 8536).
package struct TimeZoneRules: Sendable {
    package static let utc = TimeZoneRules()

    /// Larger files are refused; the largest of the database has 4 KiB.
    package static let byteCountMax = 64 * 1024

    /// When the offset changes, in Unix seconds, ascending, and the offset from then on.
    private var changes: [(at: Int64, offset: Int64)] = []
    private var first: Int64 = 0
    /// What holds after the last change.
    private var rule: TimeZoneRule?

    private init() {}

    /// Reads the bytes of a file of version 2 or later; `nil` for bytes of another form.
    package init?(file bytes: [UInt8]) {
        var reader = TimeZoneReader(bytes)
        // The first block has times of 32 bits.
        guard bytes.count <= Self.byteCountMax, let short = reader.header(),
            reader.skip(short.byteCount(ofTime: 4)), let block = reader.header(),
            let times = reader.numbers(block.timeCount, width: 8),
            let indexes = reader.numbers(block.timeCount, width: 1),
            let offsets = reader.offsets(block.typeCount), let initial = offsets.first
        else { return nil }
        first = initial
        for (time, index) in zip(times, indexes) {
            guard offsets.indices.contains(Int(index)), time > changes.last?.at ?? .min else {
                return nil
            }
            changes.append((time, offsets[Int(index)]))
        }
        guard reader.skip(block.restByteCount(ofTime: 8)), let footer = reader.line() else {
            return nil
        }
        guard !footer.isEmpty else { return }
        guard let rule = TimeZoneRule(footer) else { return nil }
        self.rule = rule
    }

    /// Seconds east of UTC.
    package func offset(at time: WallTime) -> Int64 {
        let seconds = time.unixSeconds
        guard let last = changes.last else { return rule?.offset(at: seconds) ?? first }
        if seconds >= last.at { return rule?.offset(at: seconds) ?? last.offset }
        let next = changes.indices.partitionPoint { changes[$0].at > seconds }
        return next == 0 ? first : changes[next - 1].offset
    }

    /// The first instant of a day, given as days since 1970-01-01.
    func start(ofDay day: Int64) -> WallTime {
        let midnight = day * 86_400
        // No offset reaches a day and a half.
        let first = (midnight - 129_600..<midnight + 129_600).partitionPoint { seconds in
            seconds + offset(at: WallTime(unixMilliseconds: seconds * 1000)) >= midnight
        }
        return WallTime(unixMilliseconds: first * 1000)
    }

    /// Such as `2026-11-23 09:41`.
    package func text(_ time: WallTime) -> String {
        let local = time + .seconds(offset(at: time))
        return String(local.rfc3339.prefix(16)).replacing("T", with: " ")
    }
}

extension Range where Bound: FixedWidthInteger {
    /// The first value for which the condition holds, which then holds for the rest; the end
    /// without one.
    package func partitionPoint(_ condition: (Bound) -> Bool) -> Bound {
        var range = self
        while !range.isEmpty {
            // Not half of the sum: that rounds up where it is negative, and never ends.
            let middle = range.lowerBound + (range.upperBound - range.lowerBound) / 2
            range = condition(middle) ? range.lowerBound..<middle : middle + 1..<range.upperBound
        }
        return range.lowerBound
    }
}

extension WallTime {
    /// Rounded down.
    var unixSeconds: Int64 { Self.floorDivide(unixMilliseconds, 1000) }
}

/// Reads the parts of a file in order; `nil` at its end.
private struct TimeZoneReader {
    struct Block {
        let timeCount: Int
        let typeCount: Int
        let leapCount: Int
        let textCount: Int
        let flagCount: Int

        /// After the types.
        func restByteCount(ofTime width: Int) -> Int {
            textCount + leapCount * (width + 4) + flagCount
        }

        func byteCount(ofTime width: Int) -> Int {
            timeCount * (width + 1) + typeCount * 6 + restByteCount(ofTime: width)
        }
    }

    private var rest: ArraySlice<UInt8>

    init(_ bytes: [UInt8]) { rest = bytes[...] }

    mutating func skip(_ count: Int) -> Bool {
        guard rest.count >= count else { return false }
        rest = rest.dropFirst(count)
        return true
    }

    /// Big end first, signed unless they have one byte.
    mutating func numbers(_ count: Int, width: Int) -> [Int64]? {
        guard rest.count >= count * width else { return nil }
        return (0..<count).map { _ in
            let bytes = rest.prefix(width)
            rest = rest.dropFirst(width)
            let isNegative = width > 1 && (bytes.first ?? 0) >= 0x80
            return bytes.reduce(isNegative ? -1 : 0) { $0 << 8 | Int64($1) }
        }
    }

    mutating func header() -> Block? {
        guard rest.starts(with: Array("TZif".utf8)), skip(20),
            let counts = numbers(6, width: 4), counts.allSatisfy({ (0...65_536).contains($0) })
        else { return nil }
        return Block(
            timeCount: Int(counts[3]),
            typeCount: Int(counts[4]),
            leapCount: Int(counts[2]),
            textCount: Int(counts[5]),
            flagCount: Int(counts[0] + counts[1])
        )
    }

    mutating func offsets(_ count: Int) -> [Int64]? {
        var offsets: [Int64] = []
        for _ in 0..<count {
            guard let offset = numbers(1, width: 4)?.first, abs(offset) < 100_000, skip(2) else {
                return nil
            }
            offsets.append(offset)
        }
        return offsets
    }

    mutating func line() -> String? {
        guard skip(1), let end = rest.firstIndex(of: 0x0a) else { return nil }
        return String(validating: rest[..<end], as: UTF8.self)
    }
}

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
