import Testing

@testable import Daemon
@testable import Settings

@Suite("When to look again")
struct RecheckSettingsTests {
    private static func load(_ line: String) throws -> RequestConfiguration {
        try Sample.load("[requests]\n\(line)").requests
    }

    @Test("by default a day and a week after the end, and a weekly sample")
    func byDefault() throws {
        let requests = try Self.load("")
        #expect(requests.rechecks == [.seconds(86_400), .seconds(7 * 86_400)])
        #expect(requests.sampleInterval == .seconds(7 * 86_400))
    }

    @Test("an empty list and 0s turn them off")
    func off() throws {
        let requests = try Self.load("rechecks = []\nsample_interval = \"0s\"")
        #expect(requests.rechecks.isEmpty && requests.sampleInterval == .zero)
    }

    @Test(
        "a list that is not ascending, or has something else in it, is refused",
        arguments: [
            #"["7d", "24h"]"#, #"["24h", "1d"]"#, #"["24"]"#, #"["0s"]"#, #"["20000d"]"#, "[24]",
            #""24h""#, #"["1s", "2s", "3s", "4s", "5s", "6s", "7s", "8s", "9s"]"#,
        ]
    )
    func refused(_ list: String) {
        #expect(throws: ConfigurationError.self) { try Self.load("rechecks = \(list)") }
    }
}
