import Control
import Lifecycle

/// The ledger as people read it.
enum LedgerReport {
    static func text(_ ledger: WireLedger) -> String {
        var facts = Table("state", ledger.state.description)
        facts.add("key", ledger.key)
        facts.add("entries", "\(ledger.entries)")
        facts.add("covered", "\(ledger.covered)")
        if let time = ledger.checkpointAt { facts.add("checkpoint", time.rfc3339) }
        if let count = ledger.checkpoints { facts.add("checkpoints", "\(count)") }
        guard ledger.findingCount > 0 else { return facts.text }
        facts.add("findings", "\(ledger.findingCount)")
        var findings = Table("FINDING", "AT")
        for finding in ledger.findings { findings.add(finding.kind, "\(finding.position)") }
        return facts.text + "\n" + findings.text
    }
}
