import Control
import Lifecycle

enum HealthReport {
    static func list(_ items: [WireHealth]) -> String {
        var table = Table("NAME", "KIND", "STATE", "IN FLIGHT", "WAITING", "NEXT TRY", "LAST ERROR")
        for item in items {
            let state = item.detail.map { "\(item.state) (\($0))" } ?? "\(item.state)"
            table.add([
                item.name, item.kind, state, "\(item.inFlight)/\(item.concurrency)",
                "\(item.waiting)", item.retryAt.map(LocalTime.full), item.lastError,
            ])
        }
        return table.text
    }

    static func checked(_ items: [WireHealth]) -> String {
        var lines = items.compactMap(\.summary).map(Table.harmless) + [list(items)]
        for item in items {
            let name = items.count > 1 ? "\(item.name): " : ""
            lines += item.findings.map { Table.harmless("finding: \(name)\($0)") }
            lines += (item.uncovered ?? []).map { Table.harmless("uncovered: \(name)\($0)") }
            lines += (item.sampled ?? []).map { Table.harmless("sampled: \(name)\($0)") }
            lines += (item.unexamined ?? []).map { Table.harmless("not examined: \(name)\($0)") }
            lines += (item.advice ?? []).map { Table.harmless("advice: \(name)\($0)") }
        }
        return lines.joined(separator: "\n")
    }

    static func status(_ status: WireStatus) -> String {
        var facts = Table("version", Table.harmless(status.version))
        facts.add("state", status.state.description)
        facts.add("started", status.startedAt.rfc3339)
        facts.add("intake", status.isIntakePaused ? "paused" : "open")
        facts.add("vault", status.isVaultSealed ? "sealed" : "open")
        facts.add("guard", guardLine(status.guardState))
        facts.add("requests", counts(status.requests))
        facts.add("parked", counts(status.parked))
        let oldest = [status.oldestOpenAt?.rfc3339, status.oldestOpenID?.description]
        let oldestText = oldest.compactMap(\.self).joined(separator: "  ")
        facts.add("oldest open", oldestText.isEmpty ? nil : oldestText)
        facts.add("alarms", status.alarms.isEmpty ? "none" : status.alarms.joined(separator: ", "))
        guard let refused = status.refusedReload else { return facts.text }
        facts.add("reload", "refused at \(refused.refusedAt.rfc3339)")
        let errors = refused.errors.map { Table.harmless("error: \($0)") }
        return ([facts.text] + errors).joined(separator: "\n")
    }

    static func guardLine(_ state: WireGuard) -> String {
        var line = state.isOpen ? "open" : "closed"
        line += ", \(state.deletionsLastHour) of \(state.deletionsPerHourMax) in the last hour"
        line += ", \(state.waiting) waiting"
        if let remaining = state.overrideRemaining, let time = state.overrideExpiresAt {
            line += ", override for \(remaining) until \(time.rfc3339)"
        }
        return line
    }

    static func counts(_ counts: [String: Int]) -> String {
        let parts = counts.filter { $0.value > 0 }.sorted { $0.key < $1.key }
        return parts.isEmpty
            ? "none" : parts.map { "\($0.value) \($0.key)" }.joined(separator: ", ")
    }
}
