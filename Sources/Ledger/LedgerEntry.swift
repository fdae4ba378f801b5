import Cryptography
import Encoding
package import Lifecycle

/// One state change, as the ledger keeps it for good.
///
/// There is no room in it for personal data: an id of ours, closed words, names out of the
/// configuration, numbers, keyed hashes. Its bytes are what the tree hashes: a JSON object with its
/// keys in alphabetical order and no white space, so that anyone can read it and nobody can write
/// it in two ways.
package struct LedgerEntry: Hashable, Sendable {
    /// A value that cannot hold a name, an address or a secret.
    package enum Value: Hashable, Sendable {
        case number(Int64)
        /// A word of ours or a name from the configuration: letters, digits, `_`, `-`, `.` and
        /// `:`, at most 64.
        case word(String)
        case words([String])
        case id(TimeOrderedID)
        /// A keyed hash, or a ``digest(_:)``, as base64url without padding (RFC 4648 §5).
        case hash([UInt8])
        case hashes([[UInt8]])
    }

    /// The keys an entry may have, in alphabetical order; the raw value is the JSON name.
    package enum Key: String, Sendable, CaseIterable {
        case attempts, client, count, detail, event, generation, identity, keys, kind
        case newer, provider, receipt, request, role, rows, state, store, stores, time, uid, user
        case verdict
    }

    /// The leaf.
    package let bytes: [UInt8]

    /// Makes an entry; `nil` when a word has other characters or another length.
    ///
    /// Each key stands once; ``Key/time`` is not among them.
    package init?(at time: WallTime, _ values: KeyValuePairs<Key, Value>) {
        self.init(at: time, Array(values).map { ($0.key, $0.value) })
    }

    /// Makes an entry out of values that are known at run time only; `nil` as above.
    package init?(at time: WallTime, _ values: [(Key, Value)]) {
        var writer = LeafWriter()
        for key in Key.allCases {
            if key == .time {
                writer.write(key, time: time)
                continue
            }
            // By index, so that no value is copied to look at its key.
            for index in values.indices where values[index].0 == key {
                guard writer.write(key, values[index].1) else { return nil }
            }
        }
        bytes = writer.finish()
    }

    /// What an entry has of a text that is kept elsewhere and names nobody: its SHA-256.
    package static func digest(_ text: [UInt8]) -> [UInt8] { SHA256.hash(text) }

    /// What ``Value/word(_:)`` takes, for a name from outside: other characters become `_`, and
    /// what is too long is cut.
    package static func plain(_ text: String) -> String {
        let bytes = text.utf8.prefix(LeafWriter.wordByteCountMax).map {
            LeafWriter.isPlain($0) ? $0 : UInt8(ascii: "_")
        }
        return bytes.isEmpty ? "_" : String(decoding: bytes, as: UTF8.self)
    }
}

/// Writes the bytes of a leaf without a detour over texts: there is one for every state change.
struct LeafWriter {
    static let wordByteCountMax = 64

    /// Most leaves fit, so that nothing is copied.
    private var text: [UInt8] = {
        var text: [UInt8] = []
        text.reserveCapacity(256)
        return text
    }()

    mutating func finish() -> [UInt8] {
        text.append(UInt8(ascii: "}"))
        return text
    }

    mutating func write(_ key: LedgerEntry.Key, time: WallTime) {
        begin(key)
        quote { time.appendRFC3339(to: &$0) }
    }

    /// - Returns: `false` for a word that is none.
    mutating func write(_ key: LedgerEntry.Key, _ value: LedgerEntry.Value) -> Bool {
        begin(key)
        switch value {
        case .number(let number): text += String(number).utf8
        case .word(let word): return write(word)
        case .words(let words): return list(words) { $0.write($1) }
        case .hashes(let hashes): return list(hashes) { $0.write($1) }
        case .id(let id): quote { id.appendText(to: &$0) }
        case .hash(let hash): return write(hash)
        }
        return true
    }

    private mutating func write(_ hash: [UInt8]) -> Bool {
        quote { Base64URL.append(hash, to: &$0) }
        return true
    }

    private mutating func write(_ word: String) -> Bool {
        guard (1...Self.wordByteCountMax).contains(word.utf8.count),
            word.utf8.allSatisfy(Self.isPlain)
        else { return false }
        quote { $0 += word.utf8 }
        return true
    }

    private mutating func list<Item>(
        _ items: [Item],
        _ write: (inout LeafWriter, Item) -> Bool
    ) -> Bool {
        text.append(UInt8(ascii: "["))
        for (index, item) in items.enumerated() {
            if index > 0 { text.append(UInt8(ascii: ",")) }
            guard write(&self, item) else { return false }
        }
        text.append(UInt8(ascii: "]"))
        return true
    }

    private mutating func begin(_ key: LedgerEntry.Key) {
        text.append(text.isEmpty ? UInt8(ascii: "{") : UInt8(ascii: ","))
        quote { $0 += key.rawValue.utf8 }
        text.append(UInt8(ascii: ":"))
    }

    private mutating func quote(_ body: (inout [UInt8]) -> Void) {
        text.append(UInt8(ascii: "\""))
        body(&text)
        text.append(UInt8(ascii: "\""))
    }

    static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: ":"), UInt8(ascii: "_"), UInt8(ascii: "-"),
            UInt8(ascii: "."):
            true
        default: false
        }
    }
}
