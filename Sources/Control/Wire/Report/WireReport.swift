package import Lifecycle

/// What happened in one month, in numbers; without personal data.
package struct WireReport: WireObject, Codable, Hashable {
    package var month: CalendarMonth
    package var timeZone: String
    package var from: WallTime
    package var until: WallTime
    /// Before ``until`` while the month goes on.
    package var generatedAt: WallTime
    package var controller: Controller?
    package var gaps = RecordGaps()
    package var requests: [WireReportRequests] = []
    package var days: [WireReportDay] = []
    package var months: [WireReportMonth] = []
    package var erasure = WireReportErasure()
    package var open = WireReportOpen()
    package var verdicts: [WireReportVerdicts] = []
    package var kept: [WireReportKept] = []
    package var copies: [WireReportCopies] = []
    package var holds = WireReportHolds()
    package var recipients: [Recipient] = []

    package init(
        month: CalendarMonth,
        timeZone: String,
        span: Range<WallTime>,
        generatedAt: WallTime
    ) {
        (self.month, self.timeZone) = (month, timeZone)
        (from, until) = (span.lowerBound, span.upperBound)
        self.generatedAt = generatedAt
    }

    package var isOver: Bool { generatedAt >= until }

    package static let members: [WireMember<WireReport>] = [
        .field("month", \.month, "The calendar month, such as 2026-11."),
        .field("time_zone", \.timeZone, "The zone in which it begins and ends."),
        .field("from", \.from, "Its beginning."),
        .field("until", \.until, "Its end, exclusive."),
        .field("generated_at", \.generatedAt, "When it was counted; before its end: so far."),
        .field("controller", \.controller, "Who is responsible for the data."),
        .field("gaps", \.gaps, "What is no longer on record of the month."),
        .field("requests", \.requests, "By kind of request."),
        .field("days", \.days, "By day of the month."),
        .field("months", \.months, "The last twelve months, this last."),
        .field("erasure", \.erasure, "Deletions that were completed."),
        .field("open", \.open, "What is open now, and why."),
        .field("verdicts", \.verdicts, "By provider, of completed ones."),
        .field("kept", \.kept, "What completed deletions left, and why."),
        .field("copies", \.copies, "Residual copies in the stores."),
        .field("holds", \.holds, "The holds that are in force now."),
        .field("recipients", \.recipients, "Whom to inform (GDPR article 19)."),
    ]
}

extension Controller: WireObject {
    package static let members: [WireMember<Controller>] = [
        .field("name", \.name, "The company or person."),
        .field("contact", \.contact, "Where users can ask."),
    ]
}

extension Recipient: WireObject {
    package static let members: [WireMember<Recipient>] = [
        .field("name", \.name, "The company or person."),
        .field("contact", \.contact, "How to reach them."),
        .field("purpose", \.purpose, "What they have the data for."),
    ]
}

extension WireReport: Viewable {
    /// The contacts may be persons.
    package var forViewers: WireReport {
        var report = self
        report.controller?.contact = nil
        for index in report.recipients.indices { report.recipients[index].contact = nil }
        return report
    }
}
