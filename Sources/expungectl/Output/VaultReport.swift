import Control
import Lifecycle

/// The vault as people read it.
enum VaultReport {
    static func text(_ vault: WireVault) -> String {
        var facts = Table("vault", vault.isSealed ? "sealed" : "open")
        facts.add("wraps", "\(vault.wraps) of \(vault.wrapsMax)")
        facts.add("rotation", rotation(vault.rotation))
        var keys = Table("KEY", "STATE", "USERS")
        for key in vault.keys {
            let isUnused = key.state.known == .retired && key.users == 0
            keys.add(key.id, key.state.description, isUnused ? "0 (unused)" : "\(key.users)")
        }
        return facts.text + "\n" + keys.text
    }

    private static func rotation(_ rotation: WireKeyRotation) -> String {
        var line = rotation.state.description
        if rotation.state.known != .idle { line += ", \(rotation.rewrapped) wrapped anew" }
        if rotation.unreadable > 0 { line += ", \(rotation.unreadable) unreadable" }
        if let error = rotation.error { line += ", \(error)" }
        return line
    }
}
