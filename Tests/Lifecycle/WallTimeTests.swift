import Lifecycle
import Testing

struct WallTimeTests {
    /// Text and milliseconds since the epoch, from `date -u -d TEXT +%s`.
    static let known: [(String, Int64)] = [
        ("1970-01-01T00:00:00.000Z", 0),
        ("1969-12-31T23:59:59.999Z", -1),
        ("2000-02-29T12:00:00.000Z", 951_825_600_000),
        ("2024-02-29T23:59:59.999Z", 1_709_251_199_999),
        ("2026-11-21T08:00:00.000Z", 1_795_248_000_000),
        ("2038-01-19T03:14:08.000Z", 2_147_483_648_000),
        ("1900-03-01T00:00:00.000Z", -2_203_891_200_000),
        ("0001-01-01T00:00:00.000Z", -62_135_596_800_000),
        ("9999-12-31T23:59:59.999Z", 253_402_300_799_999),
    ]

    @Test("known times are read and written", arguments: known)
    func readsAndWrites(_ text: String, _ milliseconds: Int64) throws {
        #expect(WallTime(unixMilliseconds: milliseconds).rfc3339 == text)
        #expect(try #require(WallTime(rfc3339: text)).unixMilliseconds == milliseconds)
    }

    @Test func `every day of ten thousand years survives the way to text and back`() throws {
        let step = Int64(86_400_000)
        var time = WallTime.distantPast.unixMilliseconds
        var previous = ""
        while time <= WallTime.distantFuture.unixMilliseconds {
            // A prime stride over the years, and an odd time of day.
            let wallTime = WallTime(unixMilliseconds: time + time.magnitudeOfDay)
            let text = wallTime.rfc3339
            #expect(text > previous)
            #expect(WallTime(rfc3339: text) == wallTime)
            previous = text
            time += step * 37
        }
    }

    /// Other ways to write a time, and the one that we write.
    static let equivalents: [(String, String)] = [
        ("2026-11-21T08:00:00Z", "2026-11-21T08:00:00.000Z"),
        ("2026-11-21t08:00:00z", "2026-11-21T08:00:00.000Z"),
        ("2026-11-21 08:00:00Z", "2026-11-21T08:00:00.000Z"),
        ("2026-11-21T08:00:00.5Z", "2026-11-21T08:00:00.500Z"),
        ("2026-11-21T08:00:00.05Z", "2026-11-21T08:00:00.050Z"),
        ("2026-11-21T08:00:00.123456789Z", "2026-11-21T08:00:00.123Z"),
        ("2026-11-21T08:00:00+00:00", "2026-11-21T08:00:00.000Z"),
        ("2026-11-21T08:00:00-00:00", "2026-11-21T08:00:00.000Z"),
        ("2026-11-21T08:00:00+05:30", "2026-11-21T02:30:00.000Z"),
        ("2026-11-21T08:00:00-11:59", "2026-11-21T19:59:00.000Z"),
        ("2026-01-01T00:00:00+23:59", "2025-12-31T00:01:00.000Z"),
        ("2016-12-31T23:59:60Z", "2017-01-01T00:00:00.000Z"),
        ("2016-12-31T23:59:60.999Z", "2017-01-01T00:00:00.999Z"),
    ]

    @Test("offsets, fractions and leap seconds are read", arguments: equivalents)
    func equivalent(_ text: String, _ written: String) throws {
        #expect(try #require(WallTime(rfc3339: text)).rfc3339 == written)
    }

    @Test(
        "anything else is refused",
        arguments: [
            "", "2026", "2026-11-21", "2026-11-21T08:00Z", "2026-11-21T08:00:00",
            "2026-11-21T08:00:00.Z", "2026-11-21T08:00:00.1234567890Z", "2026-11-21T08:00:00ZZ",
            " 2026-11-21T08:00:00Z", "2026-11-21T08:00:00Z ", "2026-11-21T08:00:00+0530",
            "2026-11-21T08:00:00+24:00", "2026-11-21T08:00:00+05:60", "2026-11-21T08:00:00+5:30",
            "2026-11-21X08:00:00Z", "2026-13-01T00:00:00Z", "2026-00-01T00:00:00Z",
            "2026-11-00T00:00:00Z", "2026-11-31T00:00:00Z", "2026-02-29T00:00:00Z",
            "2024-02-30T00:00:00Z", "1900-02-29T00:00:00Z", "2100-02-29T00:00:00Z",
            "2026-11-21T24:00:00Z", "2026-11-21T08:60:00Z", "2026-11-21T08:00:61Z",
            "-026-11-21T08:00:00Z", "12026-11-21T08:00:00Z", "２026-11-21T08:00:00Z",
            "2026-11-21T08:00:00\u{0}Z", "2026-+1-21T08:00:00Z",
        ]
    )
    func refused(_ text: String) {
        #expect(WallTime(rfc3339: text) == nil)
    }

    @Test func `text stays within four digits of year`() {
        #expect(WallTime(unixMilliseconds: .min).rfc3339 == "0001-01-01T00:00:00.000Z")
        #expect(WallTime(unixMilliseconds: .max).rfc3339 == "9999-12-31T23:59:59.999Z")
    }

    @Test func `arithmetic saturates`() {
        let last = WallTime(unixMilliseconds: .max)
        let first = WallTime(unixMilliseconds: .min)
        #expect(last + .seconds(1) == .distantFuture)
        #expect(first - .seconds(1) == .distantPast)
        #expect(last.since(first) == .milliseconds(Int64.max))
        #expect(first.since(last) == .milliseconds(Int64.min))
        #expect(Sample.start.since(Sample.start + .seconds(5)) == .seconds(-5))
    }

    /// Durations, and their whole milliseconds.
    static let durations: [(Duration, Int64)] = [
        (.zero, 0),
        (.microseconds(1999), 1),
        (.microseconds(-1999), -1),
        (.milliseconds(-1), -1),
        (.seconds(86_400), 86_400_000),
        (.seconds(Int64.max), .max),
        (.seconds(Int64.min), .min),
        (.milliseconds(Int64.max), .max),
        (.milliseconds(Int64.min), .min),
        (
            Duration(
                secondsComponent: 9_223_372_036_854_775,
                attosecondsComponent: 999_000_000_000_000_000
            ), .max
        ),
        (
            Duration(
                secondsComponent: -9_223_372_036_854_775,
                attosecondsComponent: -999_000_000_000_000_000
            ), .min
        ),
    ]

    @Test("milliseconds are rounded towards zero and saturate", arguments: durations)
    func milliseconds(_ duration: Duration, _ milliseconds: Int64) {
        #expect(duration.milliseconds == milliseconds)
    }
}

extension Int64 {
    /// A time of day that differs from day to day.
    fileprivate var magnitudeOfDay: Int64 { Int64(magnitude / 86_400_000 * 7919 % 86_400_000) }
}
