import Encoding

/// What the query of a report says.
package struct ReportQuery: WireObject, Hashable {
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
        guard !query.isEmpty else { return }
        let halves = query.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard halves.count == 2, halves[0] == "time_zone", let name = PathText.decode(halves[1]),
            TimeZoneFile.isName(name)
        else {
            throw ControlProblem(
                .malformedQuery,
                "'time_zone' must be a name such as Europe/Berlin, and nothing else is known"
            )
        }
        timeZone = name
    }

    package var query: String {
        timeZone.map { "time_zone=\(PercentEncoding.encode($0))" } ?? ""
    }
}
