internal import Lifecycle

/// How lenient programs and databases read the text of an id.
///
/// Rows that such a reading takes for a user's are neither erased nor called erased.
enum IDReading {
    /// A text that stands for a number.
    enum Number: Hashable {
        case integer(Int64)
        /// A fraction, or beyond 64 bits.
        case other(Double)
    }

    /// Reads ` 42`, `042`, `42.0`, `4.2e1`, `0x2a`, `1_000` and digits of other scripts; `nil` for
    /// a text that stands for no number.
    static func number(_ text: String) -> Number? {
        let plain = plain(text).replacing("_", with: "")
        guard plain.utf8.contains(where: { (0x30...0x39).contains($0) }) else { return nil }
        if let number = Int64(plain) ?? prefixed(plain) { return .integer(number) }
        guard let real = Double(plain) else { return nil }
        return Int64(exactly: real).map { .integer($0) } ?? .other(real)
    }

    /// Reads hexadecimal digits of either case, `0x` or `\x` before them, and a UUID with its
    /// dashes elsewhere, without them, in braces or as a URN; `nil` for anything else.
    static func bytes(_ text: String) -> [UInt8]? {
        var plain = plain(text).lowercased()
        for start in ["urn:uuid:", "0x", "\\x"] where plain.hasPrefix(start) {
            plain = String(plain.dropFirst(start.count))
        }
        let digits = plain.filter { !"{}-".contains($0) }
        guard digits.utf8.count == plain.utf8.count || digits.utf8.count == 32 else { return nil }
        return IDType.decodeHexadecimal(Array(digits.utf8))
    }

    /// In ASCII as far as it can be: full-width forms (U+FF01 to U+FF5E), digits of every script
    /// and the minus sign are replaced, blanks and invisible characters are left out.
    private static func plain(_ text: String) -> String {
        var plain = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            let facts = scalar.properties
            if facts.isWhitespace || facts.generalCategory == .format { continue }
            if let digit = digit(facts) {
                plain.append(contentsOf: "\(digit)".unicodeScalars)
            } else if (0xff01...0xff5e).contains(scalar.value),
                let ascii = Unicode.Scalar(scalar.value - 0xfee0)
            {
                plain.append(ascii)
            } else {
                plain.append(scalar == "\u{2212}" ? "-" : scalar)
            }
        }
        return String(plain)
    }

    private static func digit(_ facts: Unicode.Scalar.Properties) -> Int? {
        guard facts.numericType == .decimal || facts.numericType == .digit else { return nil }
        return facts.numericValue.flatMap { Int(exactly: $0) }
    }

    private static func prefixed(_ text: String) -> Int64? {
        let isNegative = text.hasPrefix("-")
        let digits = (isNegative || text.hasPrefix("+") ? text.dropFirst() : text[...]).lowercased()
        for (start, radix) in [("0x", 16), ("0o", 8), ("0b", 2)] where digits.hasPrefix(start) {
            return Int64((isNegative ? "-" : "") + digits.dropFirst(2), radix: radix)
        }
        return nil
    }
}

extension BoundValue {
    /// Whether a value that a column should not hold stands for the same id as a key of the column,
    /// which ``IDType/key(for:)`` made.
    func isRead(as key: BoundValue) -> Bool {
        switch (key, self) {
        case (.integer(let id), .real(let real)): Int64(exactly: real) == id
        case (.integer(let id), .text(let bytes)), (.integer(let id), .blob(let bytes)):
            String(validating: bytes, as: UTF8.self).flatMap(IDReading.number) == .integer(id)
        case (.text(let id), .integer(let number)):
            Array("\(number)".utf8) == id || Self.number(id) == .integer(number)
        case (.text(let id), .real(let real)):
            Self.number(id) == (Int64(exactly: real).map { .integer($0) } ?? .other(real))
        case (.text(let id), .blob(let bytes)): bytes == id
        case (.blob(let id), .text(let bytes)):
            String(validating: bytes, as: UTF8.self).flatMap(IDReading.bytes) == id
        case (.blob(let id), .integer(let number)): IDReading.bytes("\(number)") == id
        case (.blob, .real), (.real, _): false
        case (.integer, .integer), (.text, .text), (.blob, .blob): key == self
        }
    }

    private static func number(_ bytes: [UInt8]) -> IDReading.Number? {
        String(validating: bytes, as: UTF8.self).flatMap(IDReading.number)
    }
}
