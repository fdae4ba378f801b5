import Lifecycle

extension StatusPage {
    var months: String {
        let report = overview.report
        let chart = SVGChart(
            title: "Requests by month",
            labels: report.months.map { String(ReportText.name($0.month).prefix(3)) },
            series: [
                SVGChart.Series(name: "submitted", values: report.months.map(\.submitted)),
                SVGChart.Series(name: "completed", values: report.months.map(\.completed)),
            ],
            // Fills a narrow screen with letters that can be read.
            width: 360
        )
        return section(
            "months",
            "The last months",
            """
            <h3>Requests by month</h3>
            \(chart.svg)
            <details><summary>The numbers of the chart</summary>
            \(numbers)</details>
            \(thisMonth)
            <p>Months are those of UTC. Counted at \(time(report.generatedAt)).</p>
            """
        )
    }

    private var numbers: String {
        table(
            "Requests by month",
            ["Month", "Submitted", "Completed", "Cancelled"],
            overview.report.months.reversed().map { month in
                [
                    ReportText.name(month.month), "\(month.submitted)", "\(month.completed)",
                    "\(month.cancelled)",
                ]
            },
            numbers: [1, 2, 3]
        )
    }

    private var thisMonth: String {
        let erasure = overview.report.erasure
        let facts = [
            ("Deletions completed", "\(erasure.completed)"),
            ("Median time", ReportText.duration(erasure.medianMilliseconds)),
            ("95 % took at most", ReportText.duration(erasure.percentile95Milliseconds)),
            ("Longest time", ReportText.duration(erasure.worstMilliseconds)),
            ("Deadline", ReportText.duration(erasure.deadlineMilliseconds)),
            ("Completed too late", "\(erasure.late)"),
        ]
        let month = ReportText.name(overview.report.month)
        return "<h3>\(month) so far</h3>\n" + HTMLText.facts(facts)
    }
}
