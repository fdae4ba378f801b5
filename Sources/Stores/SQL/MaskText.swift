internal import Cryptography
import Encoding
internal import Engine

/// What the strategies `hash`, `random` and `truncate` write.
///
/// The last digits of a hash or random mask prove that we wrote it: a value of the application that
/// only looks like one is masked.
enum MaskText {
    /// What every hash and random mask starts with.
    static let marker = "erased:"
    /// Bytes of hash or randomness behind the marker, written in hexadecimal; 2^40 values of one
    /// column before two of them are likely to be equal.
    static let bodyBytes = 10
    /// Bytes of proof behind them: whoever guesses needs 2^47 tries.
    static let tagBytes = 6
    static let length = marker.utf8.count + (bodyBytes + tagBytes) * 2
    /// Ends a text that was cut, or replaces one too short to be cut.
    static let cut = "*"

    /// The key of the proofs, in hexadecimal.
    ///
    /// Derived from the key of the hashes, which it does not reveal: a database may know it.
    static func proofKey(_ hasher: any KeyedHasher) -> String {
        // No label begins with a zero byte.
        Hexadecimal.text(hasher.hash("\u{0}proof", domain: .mask)[...])
    }

    /// The label keeps equal values of two columns apart.
    static func hash(_ value: String, label: String, _ hasher: any KeyedHasher) -> String {
        let digest = hasher.hash("\(label)\u{0}\(value)", domain: .mask)
        return proven(Hexadecimal.text(digest.prefix(bodyBytes)), key: proofKey(hasher))
    }

    static func isMask(_ text: String, key: String) -> Bool {
        // Once for each row of a user that is verified: bytes, no characters.
        let bytes = Array(text.utf8)
        guard bytes.count == length, bytes.starts(with: marker.utf8) else { return false }
        let body = bytes[marker.utf8.count..<(length - tagBytes * 2)]
        return Hexadecimal.text(tag(body, key: key)).utf8.elementsEqual(bytes.suffix(tagBytes * 2))
    }

    /// SHA-256 of key and body, as PostgreSQL computes it, too; the body has a fixed length.
    private static func proven(_ body: String, key: String) -> String {
        marker + body + Hexadecimal.text(tag(Array(body.utf8)[...], key: key))
    }

    private static func tag(_ body: ArraySlice<UInt8>, key: String) -> ArraySlice<UInt8> {
        SHA256.hash(Array(key.utf8) + body).prefix(tagBytes)
    }

    /// The problem of a hash in a unique column: it would meet the one of an earlier deletion.
    static let repeats =
        "is unique, and the hash of a value that comes again is the same; use random"

    static func random(_ entropy: () -> UInt64, _ hasher: any KeyedHasher) -> String {
        let bytes = [entropy(), entropy()].flatMap { half in
            (0..<8).map { UInt8(truncatingIfNeeded: half >> ($0 * 8)) }
        }
        return proven(Hexadecimal.text(bytes.prefix(bodyBytes)), key: proofKey(hasher))
    }
}
