import ArgumentParser
import Control
import ControlClient
import Lifecycle

struct Report: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Report a month in numbers: requests, times, verdicts, what was kept and why.",
        discussion: "It contains no personal data. What is open is counted now."
    )

    @Option(help: "The calendar month, such as 2026-11; default: the current one.")
    var month: CalendarMonth?
    @Flag(help: "Print one page of HTML with charts, for A4.") var html = false
    @Flag(help: "Print lines of section, item, measure and value.") var csv = false
    @Option(help: "The time zone of the month, such as Europe/Berlin; default: the machine's.")
    var timeZone: String?
    @OptionGroup var global: GlobalOptions

    func validate() throws {
        guard [html, csv, global.json].count(where: { $0 }) < 2 else {
            throw ValidationError("choose one of --html, --csv and --json")
        }
        if let timeZone { try TimeZoneFile.check(timeZone) }
    }

    func run() async throws {
        let name = timeZone ?? TimeZoneFile.localName
        let zone = TimeZoneFile.rules(named: name) ?? .utc
        let month = month ?? CalendarMonth(of: LocalTime.now, in: zone)
        let report = try await global.call(.report(month, timeZone: name))
        if html {
            Console.write(ReportPage(report).html)
        } else if csv {
            Console.write(ReportCSV(report).text)
        } else {
            try global.print(report, MonthReport.full(report))
        }
    }
}
