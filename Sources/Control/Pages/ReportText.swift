package import Lifecycle

/// The words of reports, on the page and in a terminal.
package enum ReportText {
    private static let names = [
        "January", "February", "March", "April", "May", "June", "July", "August", "September",
        "October", "November", "December",
    ]

    /// Such as `November 2026`.
    package static func name(_ month: CalendarMonth) -> String {
        "\(names[month.month - 1]) \(month.year)"
    }

    package static func kind(_ kind: WireValue<RequestKind>) -> String {
        switch kind.known {
        case .deleteAccount: "Account deletion"
        case .revokeTokens: "Token revocation"
        case nil: "\(kind)"
        }
    }

    /// The two largest units that are not zero, such as `3 min 20 s`; `–` for none.
    package static func duration(_ milliseconds: Int64?) -> String {
        guard let milliseconds else { return "–" }
        let seconds = milliseconds / 1000
        guard seconds > 0 else { return milliseconds == 0 ? "0 s" : "\(milliseconds) ms" }
        let units: [(Int64, String)] = [(86_400, "d"), (3600, "h"), (60, "min"), (1, "s")]
        var rest = seconds
        var parts: [String] = []
        for (size, name) in units {
            let count = rest / size
            rest %= size
            // The second unit follows the first at once: 2 d and 5 s are 2 d.
            if count == 0, parts.isEmpty { continue }
            if count > 0 { parts.append("\(count) \(name)") }
            if parts.count == 2 || count == 0 { break }
        }
        return parts.joined(separator: " ")
    }

    package static func spans(_ spans: [WireReportSpan]) -> [String] {
        spans.enumerated().map { index, span in
            if let bound = span.upToMilliseconds { return "≤ " + duration(bound) }
            let before = index > 0 ? spans[index - 1].upToMilliseconds : nil
            return before.map { "> " + duration($0) } ?? "all"
        }
    }

    package static func state(_ name: String) -> String {
        RequestState(rawValue: name).map(PageText.state) ?? PageText.words(name)
    }

    package static func reason(_ name: String) -> String { PageText.words(name) }

    package static func verdict(_ name: String) -> String { PageText.words(name) }

    package static let merged = "Merged: the user's deletion does what the request asked for."
    package static let nothingOpen = "No request of the month or of an earlier one is open."
    package static let noVerdict = "No completed request had an identity at a provider."
    package static let nothingKept = "Nothing that the deletions of the month found was kept."
    package static let noHold = "No hold is in force now."

    /// The states of open requests, the parked ones by what they wait for.
    package static func open(_ open: WireReportOpen) -> [(name: String, count: Int)] {
        sorted(open.states).filter { $0.name != RequestState.parked.rawValue }
            .map { (name: state($0.name), count: $0.count) }
            + sorted(open.parked).map { (name: "waits: " + reason($0.name), count: $0.count) }
    }

    package static func sorted(_ counts: [String: Int]) -> [(name: String, count: Int)] {
        counts.map { (name: $0.key, count: $0.value) }.sorted {
            ($1.count, $0.name) < ($0.count, $1.name)
        }
    }

    /// What a reader must know before believing the numbers.
    package static func gaps(_ gaps: RecordGaps) -> [String] {
        var sentences: [String] = []
        if gaps.requests > 0 {
            sentences.append(
                "\(gaps.requests) requests that ended in this month are no longer on record."
            )
        }
        if gaps.erasures > 0 {
            sentences.append(
                "Of \(gaps.erasures) erasures of this month only the tombstones are left."
            )
        }
        if gaps.isIncomplete { sentences.append("The numbers below are the least there were.") }
        return sentences
    }
}
