import Encoding
import Lifecycle

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
