import Control
import FoundationEssentials
import Testing

@testable import Daemon

@Suite("What Prometheus is told to watch")
struct MonitoringTests {
    /// The time at which the file of the metrics was written; by the unit, not by the service.
    private static let ofTheUnit = "expunged_metrics_written_seconds"

    @Test(
        "every metric that a file names is one",
        arguments: [
            "Config/prometheus-rules.yml", "docs/guides/monitoring.md",
            "docs/guides/rechecks.md", "docs/guides/spool-repair.md",
        ]
    )
    func names(file: String) async throws {
        let root = #filePath.split(separator: "/").dropLast(3).map { "/\($0)" }.joined()
        let data = try Data(contentsOf: URL(filePath: "\(root)/\(file)"))
        let metrics = try await Bench().backend().metrics(caller: Caller(role: .operator, uid: 0))
        let known = Set(
            metrics.split(separator: "\n").filter { $0.hasPrefix("# TYPE ") }.flatMap { line in
                let words = line.split(separator: " ").map(String.init)
                guard words[3] == "histogram" else { return [words[2]] }
                return ["", "_bucket", "_sum", "_count"].map { words[2] + $0 }
            }
        )
        let text = String(decoding: data, as: UTF8.self)
        let named = text.matches(of: /expunged_[a-z_]*[a-z]/).map { String($0.output) }
        if file.hasPrefix("Config") { #expect(named.count > 15) }
        let unknown = Set(named).subtracting(known).subtracting([Self.ofTheUnit])
        #expect(unknown.isEmpty, "\(unknown.sorted())")
    }
}
