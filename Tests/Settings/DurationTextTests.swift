import Testing

@testable import Settings

@Suite("Durations are written with units")
struct DurationTextTests {
    @Test(
        "a duration with units is read",
        arguments: [
            ("0s", 0), ("30s", 30_000), ("1h30m", 5_400_000), ("7d", 604_800_000),
            ("2w1d", 1_296_000_000), ("1m500ms", 60_500), ("250ms", 250), ("007s", 7000),
        ] as [(String, Int64)]
    )
    func good(text: String, milliseconds: Int64) {
        #expect(DurationText.parse(text) == .milliseconds(milliseconds))
    }

    @Test(
        "anything else is refused",
        arguments: [
            "", "30", "s", "-5s", "+5s", "5 s", "5S", "1.5h", "30m1h", "1s1s", "1y", "5s ", " 5s",
            "١s", "9999999999999999s", "999999999999999w", "1h30", "1ms1s",
        ]
    )
    func bad(text: String) {
        #expect(DurationText.parse(text) == nil)
    }

    @Test(
        "what is written reads back",
        arguments: [0, 1, 999, 1000, 61_000, 3_600_000, 86_400_000, 694_861_001] as [Int64]
    )
    func roundTrip(milliseconds: Int64) {
        let duration = Duration.milliseconds(milliseconds)
        #expect(DurationText.parse(DurationText.format(duration)) == duration)
    }

    @Test("durations are written in the units that people use")
    func format() {
        #expect(DurationText.format(.seconds(604_800)) == "7d")
        #expect(DurationText.format(.seconds(5400)) == "1h30m")
        #expect(DurationText.format(.milliseconds(1500)) == "1s500ms")
    }
}
