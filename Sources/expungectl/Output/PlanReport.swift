import Control
import Lifecycle

enum PlanReport {
    static func full(_ plan: WirePlan) -> String {
        var facts = Table("plan", plan.hash)
        if let id = plan.requestID { facts.add("request", id.description) }
        facts.add("approval", approval(plan))
        var parts = [facts.text, identities(plan), stores(plan)]
        if plan.stores.contains(where: { !$0.rules.isEmpty }) { parts.append(rules(plan)) }
        if !plan.changes.isEmpty { parts.append(changes(plan.changes)) }
        return parts.joined(separator: "\n\n")
    }

    private static func approval(_ plan: WirePlan) -> String {
        var text = plan.state.description
        if let uid = plan.approvedBy { text += " by login uid \(uid)" }
        if let time = plan.approvedAt { text += " at \(time.rfc3339)" }
        if let uid = plan.firstApprovedBy { text += ", first by login uid \(uid)" }
        if plan.state == .known(.awaitingApproval), plan.approvalsRequired == 2 {
            text += plan.firstApprovedBy == nil ? " of two operators" : ", another one is needed"
        }
        return text
    }

    private static func identities(_ plan: WirePlan) -> String {
        guard !plan.identities.isEmpty else { return "no identity is known: nothing to revoke" }
        var table = Table("REVOKE AT", "CLIENT", "IDENTITY")
        for identity in plan.identities {
            table.add(identity.provider, identity.clientID, identity.identityID.description)
        }
        return table.text
    }

    private static func stores(_ plan: WirePlan) -> String {
        guard !plan.stores.isEmpty else { return "no store is configured: nothing to erase" }
        let masks = plan.stores.flatMap { store in store.items.map { columns($0, store) } }
        let hasMasks = masks.contains { $0 != nil }
        var table = Table(
            ["STORE", "ITEM", "ACTION", "COUNT", "NEWER", "UNDATED", "KEPT BECAUSE"]
                + (hasMasks ? ["COLUMNS"] : [])
        )
        for store in plan.stores {
            if !store.isKnown {
                let cells: [String?] = [store.name, nil, nil, "unknown", nil, nil, nil]
                table.add(cells + (hasMasks ? [nil] : []))
            }
            for item in store.items {
                let cells: [String?] = [
                    store.name, item.name, item.action,
                    item.isBounded ? "\(item.count) or more" : "\(item.count)",
                    "\(item.newer)", item.hasNoTimestamps ? "all, no cutoff" : "\(item.undated)",
                    item.reason,
                ]
                table.add(cells + (hasMasks ? [columns(item, store)] : []))
            }
        }
        return table.text
    }

    /// What is set in an anonymized table, such as `email: hash, name: null`.
    private static func columns(_ item: WirePlanItem, _ store: WirePlanStore) -> String? {
        guard item.action == PlanItem.Action.anonymize.rawValue else { return nil }
        let name = item.name.lowercased()
        let columns = store.rules.compactMap { rule -> String? in
            // Such as `table users (id) set email`.
            guard rule.key.hasPrefix("table "), let set = rule.key.firstRange(of: ") set "),
                let column = rule.key[..<set.lowerBound].firstRange(of: " (")
            else { return nil }
            let table = rule.key[..<column.lowerBound].dropFirst("table ".count).lowercased()
            guard table == name || table.hasSuffix("." + name) else { return nil }
            let words = rule.value.split(separator: "\"", omittingEmptySubsequences: false)
            return "\(rule.key[set.upperBound...]): \(words.count > 1 ? words[1] : "")"
        }
        return columns.isEmpty ? nil : columns.joined(separator: ", ")
    }

    private static func rules(_ plan: WirePlan) -> String {
        var table = Table("STORE", "RULE", "SETTINGS")
        for store in plan.stores {
            for rule in store.rules { table.add(store.name, rule.key, rule.value) }
        }
        return table.text
    }

    private static func changes(_ changes: [WirePlanChange]) -> String {
        var table = Table("CHANGE", "WHERE", "ITEM", "ACTION", "WAS", "NOW")
        for change in changes {
            table.add([
                change.kind.description, change.store ?? change.provider,
                change.rule ?? change.name, change.action,
                change.ruleWas ?? change.was.map { "\($0)" },
                change.ruleNow ?? change.now.map { "\($0)" },
            ])
        }
        return table.text
    }
}
