/// A 128-bit identifier in the layout of UUID version 7 (RFC 9562 §5.7): sorted by its birth.
package struct TimeOrderedID: Hashable, Sendable, Comparable, CustomStringConvertible {
    package let high: UInt64
    package let low: UInt64

    /// Clamps the time to 1970 or later.
    package init(at time: WallTime, entropy: inout some RandomNumberGenerator) {
        let milliseconds = UInt64(max(0, time.unixMilliseconds)) & 0xffff_ffff_ffff
        high = milliseconds << 16 | 0x7000 | (entropy.next() & 0x0fff)
        low = 0x8000_0000_0000_0000 | (entropy.next() >> 2)
    }

    package init(high: UInt64, low: UInt64) { (self.high, self.low) = (high, low) }

    /// Reads the 36-character text form, upper-case digits too; `nil` for anything else.
    package init?(_ text: String) {
        guard text.utf8.count == 36 else { return nil }
        var nibbles: [UInt64] = []
        for (index, byte) in text.utf8.enumerated() {
            if [8, 13, 18, 23].contains(index) {
                guard byte == UInt8(ascii: "-") else { return nil }
                continue
            }
            guard let value = Character(Unicode.Scalar(byte)).hexDigitValue else { return nil }
            nibbles.append(UInt64(value))
        }
        high = nibbles[0..<16].reduce(0) { $0 << 4 | $1 }
        low = nibbles[16..<32].reduce(0) { $0 << 4 | $1 }
    }

    package var description: String {
        var text: [UInt8] = []
        text.reserveCapacity(36)
        appendText(to: &text)
        return String(decoding: text, as: UTF8.self)
    }

    package func appendText(to text: inout [UInt8]) {
        for position in 0..<32 {
            if position & 3 == 0, position >= 8, position <= 20 { text.append(UInt8(ascii: "-")) }
            let half = position < 16 ? high : low
            let digit = UInt8(truncatingIfNeeded: half >> UInt64(60 - position % 16 * 4) & 0xf)
            text.append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
        }
    }

    package static func < (left: TimeOrderedID, right: TimeOrderedID) -> Bool {
        (left.high, left.low) < (right.high, right.low)
    }
}

/// Names one request; the journal's `EXPUNGED_REQUEST_ID` and the spool's `request_id`.
package struct RequestID: Hashable, Sendable, Comparable, TextCodable {
    /// What texts show of an id: the time, which a batch has in common, and 12 random bits.
    package static let shortLength = 18

    package let value: TimeOrderedID

    package init(_ value: TimeOrderedID) { self.value = value }

    package init?(_ text: String) {
        guard let value = TimeOrderedID(text) else { return nil }
        self.value = value
    }

    /// The ids whose text begins with `prefix`, 4 to 36 characters; `nil` when none can.
    package static func range(prefix: String) -> ClosedRange<RequestID>? {
        let rest = "00000000-0000-0000-0000-000000000000".dropFirst(prefix.utf8.count)
        guard prefix.utf8.count >= 4, let first = RequestID(prefix + rest),
            let last = RequestID(prefix + rest.replacing("0", with: "f"))
        else { return nil }
        return first...last
    }

    package var description: String { value.description }

    package static func < (left: RequestID, right: RequestID) -> Bool { left.value < right.value }
}

/// Names one identity: a link between a user and a provider.
package struct IdentityID: Hashable, Sendable, TextCodable {
    package let value: TimeOrderedID

    package init(_ value: TimeOrderedID) { self.value = value }

    package init?(_ text: String) {
        guard let value = TimeOrderedID(text) else { return nil }
        self.value = value
    }

    package var description: String { value.description }
}

/// Names one stored credential; a row id of our own state, meaningless outside.
package struct CredentialID: Hashable, Sendable, Comparable {
    package let rowID: Int64

    package init(rowID: Int64) { self.rowID = rowID }

    package static func < (left: CredentialID, right: CredentialID) -> Bool {
        left.rowID < right.rowID
    }
}

/// The form of the configured names, and of the names of holds.
package enum ComponentName {
    /// The longest name, in bytes.
    package static let byteCountMax = 64

    /// Whether it is 1 to 64 of letters, digits, `.`, `_` and `-`.
    package static func isValid(_ text: String) -> Bool {
        (1...byteCountMax).contains(text.utf8.count)
            && text.utf8.allSatisfy {
                isCodeByte($0) || $0 == UInt8(ascii: ".") || (0x41...0x5a).contains($0)
            }
    }

    /// One of `a-z`, `0-9`, `_` and `-`.
    static func isCodeByte(_ byte: UInt8) -> Bool {
        (0x61...0x7a).contains(byte) || (0x30...0x39).contains(byte) || byte == 0x5f || byte == 0x2d
    }
}

/// The configured name of a provider, such as `apple`.
package struct ProviderName: Hashable, Sendable, Comparable, TextCodable {
    package let rawValue: String

    package init(_ rawValue: String) { self.rawValue = rawValue }

    package var description: String { rawValue }

    package static func < (left: ProviderName, right: ProviderName) -> Bool {
        left.rawValue < right.rawValue
    }
}

/// The configured name of a store, such as `app-db`.
package struct StoreName: Hashable, Sendable, Comparable, TextCodable {
    package let rawValue: String

    package init(_ rawValue: String) { self.rawValue = rawValue }

    package var description: String { rawValue }

    package static func < (left: StoreName, right: StoreName) -> Bool {
        left.rawValue < right.rawValue
    }
}

/// The application's own name for one of its users: personal, so every textual view is redacted.
///
/// Compared by bytes, as every store does: Swift takes two ways to write an `é` for one.
package struct UserID: Hashable, Sendable, CustomStringConvertible, CustomDebugStringConvertible,
    CustomReflectable
{
    private let text: String

    /// The longest user id, in bytes of UTF-8; the spool's CHECK says the same.
    package static let byteCountMax = 255

    /// Accepts 1 to 255 bytes of UTF-8 without control characters (U+0001–U+001F, U+007F) and NUL.
    package init?(_ text: String) {
        let bytes = text.utf8
        guard (1...Self.byteCountMax).contains(bytes.count),
            bytes.allSatisfy({ $0 >= 0x20 && $0 != 0x7f })
        else { return nil }
        self.text = text
    }

    private init(known text: String) { self.text = text }

    /// An id that no user has: 128 random bits, in characters that every store takes.
    package static func nobody() -> UserID {
        let digits = (0..<4).map { _ in String(UInt32.random(in: .min ... .max), radix: 16) }
        return UserID(known: digits.joined())
    }

    /// The plain text, for a bound parameter, a keyed hash or the request's own submitter.
    package func exposeText() -> String { text }

    package static func == (left: UserID, right: UserID) -> Bool {
        left.text.utf8.elementsEqual(right.text.utf8)
    }

    package func hash(into hasher: inout Hasher) {
        for byte in text.utf8 { hasher.combine(byte) }
    }

    package var description: String { "[redacted]" }
    package var debugDescription: String { "[redacted]" }
    package var customMirror: Mirror { Mirror(self, children: []) }
}

/// Names the ids that a store finds in its rows for other stores, such as `app-db.customer`.
package struct KeyName: Hashable, Sendable, CustomStringConvertible {
    package let store: StoreName
    package let key: String

    package init(store: StoreName, key: String) { (self.store, self.key) = (store, key) }

    package var description: String { "\(store).\(key)" }
}

/// A value that is stored, and travels, as one string.
package protocol TextCodable: Codable, LosslessStringConvertible {}

extension TextCodable {
    /// Reads the string.
    ///
    /// - Throws: `DecodingError` when it is none, or has another form.
    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let value = Self(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(
                in: container,
                debugDescription: "no \(Self.self)"
            )
        }
        self = value
    }

    /// Writes ``description``; throws whatever the encoder throws.
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}
