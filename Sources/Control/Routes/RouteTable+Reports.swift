import Lifecycle

/// What a month adds up to.
extension RouteTable {
    static let reports: [Route] = [
        .view(
            .showReport,
            "/v1/reports/{month}",
            "The report of a calendar month, without personal data.",
            problems: [.malformedField, .malformedQuery]
        ) { call throws(ControlProblem) in
            guard let month = CalendarMonth(call.values[0]) else {
                throw ControlProblem(.malformedField, "a month is a text such as 2026-11")
            }
            return try await call.backend.report(
                month,
                timeZone: ReportQuery(query: call.query).timeZone,
                caller: call.caller
            )
        }
    ]
}
