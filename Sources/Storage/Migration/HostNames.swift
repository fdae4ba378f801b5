import Engine

/// How the names of what a host has for itself differ between a file and a server.
struct HostNames {
    let host: String
    let isToServer: Bool

    private static let ownFacts = [StateDatabase.cleanStop, "note:clock", "note:ledger_accepted"]
    private static let wakes = "wake:"

    /// The row as it is there; `nil` where it has no place.
    func renamed(_ row: [SQLValue], of table: MigratedTable) -> [SQLValue]? {
        switch table.name {
        case "meta": replacing("key", in: row, of: table, fact)
        case "imports": replacing("spool_id", in: row, of: table, spool)
        case "ledger_checkpoints": replacing("host", in: row, of: table, owner)
        default: row
        }
    }

    private func replacing(
        _ column: String,
        in row: [SQLValue],
        of table: MigratedTable,
        _ name: (String) -> String?
    ) -> [SQLValue]? {
        guard let index = table.columns.firstIndex(where: { $0.name == column }),
            case .text(let text) = row[index]
        else { return row }
        guard let new = name(text) else { return nil }
        var row = row
        row[index] = .text(new)
        return row
    }

    private func fact(_ key: String) -> String? {
        if isToServer {
            // The server has a table of them.
            if key.hasPrefix(Self.wakes) { return nil }
            return Self.ownFacts.contains(key) ? "\(key):\(host)" : key
        }
        for own in Self.ownFacts where key.hasPrefix(own + ":") {
            return key == "\(own):\(host)" ? own : nil
        }
        return key
    }

    /// Those of queues are the same for all hosts.
    private func spool(_ id: String) -> String? {
        let prefix = SpoolSource.prefix(host: host)
        guard !id.hasPrefix(SpoolSource.mark) else { return id }
        if isToServer { return prefix + id }
        return id.hasPrefix(prefix) ? String(id.dropFirst(prefix.count)) : id
    }

    private func owner(_ name: String) -> String? {
        if isToServer { return host }
        return name == host ? "" : nil
    }
}
