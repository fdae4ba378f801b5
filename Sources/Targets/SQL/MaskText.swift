internal import Engine

/// What the strategies `hash` and `random` write.
enum MaskText {
    /// What every hash and random mask starts with.
    static let marker = "erased:"
    /// Bytes of hash or randomness behind the marker, written in hexadecimal.
    static let digestBytes = 16
    /// Characters of such a mask.
    static let length = marker.utf8.count + digestBytes * 2

    /// A keyed hash; the label keeps equal values of two columns apart.
    static func hash(_ value: String, label: String, _ hasher: any KeyedHasher) -> String {
        let digest = hasher.hash("\(label)\u{0}\(value)", domain: .mask)
        return marker + hexadecimal(digest.prefix(digestBytes))
    }

    /// The problem of a hash in a unique column: it would meet the one of an earlier deletion.
    static func repeats(_ place: String) -> String {
        "\(place) is unique, and the hash of a value that comes again is the same; use random"
    }

    static func random(_ entropy: () -> UInt64) -> String {
        let bytes = [entropy(), entropy()].flatMap { half in
            (0..<8).map { UInt8(truncatingIfNeeded: half >> ($0 * 8)) }
        }
        return marker + hexadecimal(bytes[...])
    }

    static func hexadecimal(_ bytes: ArraySlice<UInt8>) -> String {
        let digits = Array("0123456789abcdef".utf8)
        var text: [UInt8] = []
        for byte in bytes {
            text.append(digits[Int(byte >> 4)])
            text.append(digits[Int(byte & 15)])
        }
        return String(decoding: text, as: UTF8.self)
    }
}
