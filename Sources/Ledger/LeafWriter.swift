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
        text.append(UInt8(ascii: "\""))
        time.appendRFC3339(to: &text)
        text.append(UInt8(ascii: "\""))
    }

    /// - Returns: `false` for a word that is none.
    mutating func write(_ key: LedgerEntry.Key, _ value: LedgerEntry.Value) -> Bool {
        begin(key)
        switch value {
        case .number(let number):
            text += String(number).utf8
        case .word(let word):
            return write(word)
        case .words(let words):
            text.append(UInt8(ascii: "["))
            for (index, word) in words.enumerated() {
                if index > 0 { text.append(UInt8(ascii: ",")) }
                guard write(word) else { return false }
            }
            text.append(UInt8(ascii: "]"))
        case .hashes(let hashes):
            text.append(UInt8(ascii: "["))
            for (index, hash) in hashes.enumerated() {
                if index > 0 { text.append(UInt8(ascii: ",")) }
                write(hash)
            }
            text.append(UInt8(ascii: "]"))
        case .id(let id):
            text.append(UInt8(ascii: "\""))
            id.appendText(to: &text)
            text.append(UInt8(ascii: "\""))
        case .hash(let bytes):
            write(bytes)
        }
        return true
    }

    private mutating func write(_ hash: [UInt8]) {
        text.append(UInt8(ascii: "\""))
        Base64URL.append(hash, to: &text)
        text.append(UInt8(ascii: "\""))
    }

    private mutating func begin(_ key: LedgerEntry.Key) {
        text.append(text.isEmpty ? UInt8(ascii: "{") : UInt8(ascii: ","))
        text.append(UInt8(ascii: "\""))
        text += key.rawValue.utf8
        text.append(UInt8(ascii: "\""))
        text.append(UInt8(ascii: ":"))
    }

    private mutating func write(_ word: String) -> Bool {
        guard (1...Self.wordByteCountMax).contains(word.utf8.count),
            word.utf8.allSatisfy(Self.isPlain)
        else { return false }
        text.append(UInt8(ascii: "\""))
        text += word.utf8
        text.append(UInt8(ascii: "\""))
        return true
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
