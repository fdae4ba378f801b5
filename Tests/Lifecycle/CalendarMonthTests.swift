import FoundationEssentials
import Testing

@testable import Lifecycle

struct CalendarMonthTests {
    private static func rules(_ name: String) throws -> TimeZoneRules {
        let data = try Data(contentsOf: URL(filePath: "/usr/share/zoneinfo/" + name))
        return try #require(TimeZoneRules(file: Array(data)))
    }

    @Test(arguments: ["", "2026", "2026-1", "2026-00", "2026-13", "1969-12", "+026-11", "2026-11 "])
    func `another text is no month`(_ text: String) { #expect(CalendarMonth(text) == nil) }

    @Test func `months follow each other over the end of a year`() throws {
        let month = try #require(CalendarMonth("2026-11"))
        #expect((-11...2).map { "\(month.advanced(by: $0))" }.first == "2025-12")
        #expect("\(month.advanced(by: 2))" == "2027-01")
    }

    @Test(arguments: [
        ("UTC", "2026-11", "2026-11-01T00:00:00.000Z", "2026-12-01T00:00:00.000Z"),
        ("Europe/Berlin", "2026-10", "2026-09-30T22:00:00.000Z", "2026-10-31T23:00:00.000Z"),
        ("Europe/Berlin", "2087-03", "2087-02-28T23:00:00.000Z", "2087-03-31T22:00:00.000Z"),
        ("America/New_York", "2026-03", "2026-03-01T05:00:00.000Z", "2026-04-01T04:00:00.000Z"),
        ("Australia/Sydney", "2050-10", "2050-09-30T14:00:00.000Z", "2050-10-31T13:00:00.000Z"),
        ("UTC", "1970-01", "1970-01-01T00:00:00.000Z", "1970-02-01T00:00:00.000Z"),
        ("Asia/Tokyo", "1970-01", "1969-12-31T15:00:00.000Z", "1970-01-31T15:00:00.000Z"),
        ("America/New_York", "1970-01", "1970-01-01T05:00:00.000Z", "1970-02-01T05:00:00.000Z"),
        ("Asia/Kathmandu", "2030-01", "2029-12-31T18:15:00.000Z", "2030-01-31T18:15:00.000Z"),
    ])
    func `a month begins and ends at midnight of its zone`(
        zone: String,
        month: String,
        from: String,
        until: String
    ) throws {
        let zone = zone == "UTC" ? .utc : try Self.rules(zone)
        let month = try #require(CalendarMonth(month))
        let span = month.span(in: zone)
        #expect(span.lowerBound.rfc3339 == from)
        #expect(span.upperBound.rfc3339 == until)
        let days = month.days(in: zone)
        #expect(days.first?.lowerBound == span.lowerBound)
        #expect(days.last?.upperBound == span.upperBound)
        #expect(zip(days, days.dropFirst()).allSatisfy { $0.upperBound == $1.lowerBound })
        #expect(CalendarMonth(of: span.lowerBound, in: zone) == month)
        #expect(CalendarMonth(of: span.upperBound, in: zone) == month.advanced(by: 1))
    }

    @Test func `a midnight that a zone skips begins with the first instant after it`() throws {
        // 2018-11-04: Brazil went from 00:00 to 01:00.
        let zone = try Self.rules("America/Sao_Paulo")
        let days = try #require(CalendarMonth("2018-11")).days(in: zone)
        #expect(days[3].lowerBound.rfc3339 == "2018-11-04T03:00:00.000Z")
    }

    @Test(arguments: [
        "CET-1CEST,M3.5.0,M10.5.0/3", "<+03>-3", "EST5EDT,M3.2.0,M11.1.0", "UTC0",
        "XXX3YYY,J60/0,300/25",
    ])
    func `a rule of POSIX is read`(_ text: String) { #expect(TimeZoneRule(text) != nil) }

    @Test(arguments: [
        "", "C-1", "CET", "CET-1CEST", "CET-1CEST,M3.5.0", "CET-1CEST,M13.5.0,M10.5.0", "<+03-3",
        "CET-1CEST,M3.5.0,M10.5.0/3,",
    ])
    func `another text is no rule`(_ text: String) { #expect(TimeZoneRule(text) == nil) }

    @Test func `a file that was cut or changed anywhere does no harm`() throws {
        let bytes = Array(
            try Data(contentsOf: URL(filePath: "/usr/share/zoneinfo/Europe/Berlin"))
        )
        #expect(TimeZoneRules(file: bytes) != nil)
        for count in 0..<bytes.count { #expect(TimeZoneRules(file: Array(bytes[..<count])) == nil) }
        for index in bytes.indices {
            var changed = bytes
            changed[index] ^= 0xff
            _ = TimeZoneRules(file: changed)?.offset(at: .distantFuture)
        }
    }
}
