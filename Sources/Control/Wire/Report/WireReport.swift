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

    package static let fields: [WireField] = [
        .required("month", .text, "The calendar month, such as 2026-11."),
        .required("time_zone", .text, "The zone in which it begins and ends."),
        .required("from", .time, "Its beginning."),
        .required("until", .time, "Its end, exclusive."),
        .required("generated_at", .time, "When it was counted; before its end: so far."),
        .optional("controller", .object("Controller"), "Who is responsible for the data."),
        .required("gaps", .object("ReportGaps"), "What is no longer on record of the month."),
        .required("requests", .list(.object("ReportRequests")), "By kind of request."),
        .required("days", .list(.object("ReportDay")), "By day of the month."),
        .required("months", .list(.object("ReportMonth")), "The last twelve months, this last."),
        .required("erasure", .object("ReportErasure"), "Deletions that were completed."),
        .required("open", .object("ReportOpen"), "What is open now, and why."),
        .required("verdicts", .list(.object("ReportVerdicts")), "By provider, of completed ones."),
        .required("kept", .list(.object("ReportKept")), "What completed deletions left, and why."),
        .required("copies", .list(.object("ReportCopies")), "Residual copies in the stores."),
        .required("holds", .object("ReportHolds"), "The holds that are in force now."),
        .required("recipients", .list(.object("Recipient")), "Whom to inform (GDPR article 19)."),
    ]
}

extension Controller: WireObject {
    package static let fields: [WireField] = [
        .optional("name", .text, "The company or person."),
        .optional("contact", .text, "Where users can ask."),
    ]
}

extension Recipient: WireObject {
    package static let fields: [WireField] = [
        .required("name", .text, "The company or person."),
        .optional("contact", .text, "How to reach them."),
        .optional("purpose", .text, "What they have the data for."),
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
