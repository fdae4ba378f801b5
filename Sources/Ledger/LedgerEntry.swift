package import Lifecycle

/// One state change, as the ledger keeps it for good.
///
/// There is no room in it for personal data: an id of ours, closed words, names out of the
/// configuration, numbers. Its bytes are what the tree hashes: a JSON object with its keys in
/// alphabetical order and no white space, so that anyone can read it and nobody can write it in
/// two ways.
package struct LedgerEntry: Hashable, Sendable {
    /// A value that cannot hold a name, an address or a secret.
    package enum Value: Hashable, Sendable {
        case number(Int64)
        /// A word of ours or a name from the configuration: letters, digits, `_`, `-`, `.` and
        /// `:`, at most 64.
        case word(String)
    }

    /// The keys an entry may have; the raw value is the JSON name.
    package enum Key: String, Sendable, CaseIterable {
        case attempts, client, detail, event, generation, identity, kind, provider, request, role
        case rows, state, target, uid, verdict
    }

    package let time: WallTime
    package let values: [Key: Value]

    /// Makes an entry; `nil` when a word has other characters or another length.
    package init?(at time: WallTime, _ values: [Key: Value]) {
        guard values.values.allSatisfy(Self.isPlain) else { return nil }
        self.time = time
        self.values = values
    }

    /// The leaf.
    package var bytes: [UInt8] {
        var members = values.map { key, value in
            switch value {
            case .number(let number): (key.rawValue, "\(number)")
            case .word(let word): (key.rawValue, "\"\(word)\"")
            }
        }
        members.append(("time", "\"\(time.rfc3339)\""))
        members.sort { $0.0 < $1.0 }
        let body = members.map { "\"\($0.0)\":\($0.1)" }.joined(separator: ",")
        return Array("{\(body)}".utf8)
    }

    private static func isPlain(_ value: Value) -> Bool {
        guard case .word(let word) = value else { return true }
        return (1...64).contains(word.utf8.count)
            && word.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: ":"), UInt8(ascii: "_"), UInt8(ascii: "-"),
                    UInt8(ascii: "."):
                    true
                default: false
                }
            }
    }
}
