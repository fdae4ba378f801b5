/// What the query of a report says.
package struct ReportQuery: Sendable, Hashable {
    /// A name of the IANA database.
    package var timeZone: String?

    package init(timeZone: String? = nil) { self.timeZone = timeZone }

    package static let fields: [WireField] = [
        .optional(
            "time_zone",
            .pattern(TimeZoneFile.namePattern, byteCountMax: TimeZoneFile.nameByteCountMax),
            "The zone of the month, such as Europe/Berlin; UTC when absent."
        )
    ]

    /// Reads a query, the raw text after `?`, which may be empty.
    init(query: Substring) throws(ControlProblem) {
        self.init()
        for (_, zone) in try PathText.pairs(query, of: Self.fields) {
            guard TimeZoneFile.isName(zone) else {
                throw ControlProblem(
                    .malformedQuery,
                    "'time_zone' must be a name such as Europe/Berlin"
                )
            }
            timeZone = zone
        }
    }

    package var query: String { PathText.query(["time_zone": timeZone]) }
}
