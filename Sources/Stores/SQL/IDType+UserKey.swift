internal import Encoding
internal import Lifecycle

extension IDType {
    /// The user id as this kind of column stores it; `nil` when no row can hold it, and for a
    /// spelling that ``isNonCanonical(_:)``.
    ///
    /// Digits of bytes and of a UUID are all lower-case, or all upper-case as Swift writes them
    /// (RFC 9562 §4); ``spellings(ofBlob:)`` has all that are accepted.
    func key(for user: UserID) -> BoundValue? {
        let text = user.exposeText()
        let bytes = Array((text == text.uppercased() ? text.lowercased() : text).utf8)
        switch self {
        case .text, .mixed: return .text(Array(text.utf8))
        case .integer:
            guard let number = Int64(text), String(number) == text else { return nil }
            return .integer(number)
        case .blob: return Self.decodeHexadecimal(bytes).map { .blob($0) }
        case .uuid:
            guard bytes.count == 36, Self.decodeHexadecimal(bytes)?.count == 16 else { return nil }
            return .text(bytes)
        }
    }

    /// Whether an id that is made by a template may be one of this kind.
    func fits(_ template: IDTemplate) -> Bool {
        switch self {
        case .text, .mixed: true
        case .integer: template.marks.utf8.allSatisfy { $0 == 0x2d || (0x30...0x39).contains($0) }
        case .blob, .uuid: template.marks.allSatisfy { $0 == "-" || $0.isHexDigit }
        }
    }

    /// Whether rows may well be this user's though no column holds the id as it is written: ` 42`,
    /// `42.0` or full-width digits for an integer, a UUID in braces, digits of both cases.
    ///
    /// Another user of the service may be written as the column has it, so they are not taken, and
    /// nobody may say that there are none.
    func isNonCanonical(_ user: UserID) -> Bool {
        guard key(for: user) == nil else { return false }
        let text = user.exposeText()
        return switch self {
        case .text, .mixed: false
        case .integer: IDReading.number(text) != nil
        case .blob: IDReading.bytes(text) != nil
        case .uuid: IDReading.bytes(text)?.count == 16
        }
    }

    /// The ids that ``key(for:)`` finds a UUID by.
    static func spellings(ofUUID text: String) -> [UserID] {
        Set([text.lowercased(), text.uppercased()]).sorted().compactMap { UserID($0) }
    }

    /// The ids that ``key(for:)`` finds bytes by: as digits, and as a UUID where they are 16 bytes.
    static func spellings(ofBlob digits: String) -> [UserID] {
        var spellings = [digits]
        if digits.utf8.count == 32 {
            let ends = [0, 8, 12, 16, 20, 32]
            spellings.append(
                zip(ends, ends.dropFirst()).map { start, end in
                    digits.dropFirst(start).prefix(end - start)
                }.joined(separator: "-")
            )
        }
        return spellings.flatMap(Self.spellings(ofUUID:))
    }

    /// Reads lower-case digits, two a byte, or a UUID with its dashes; `nil` for anything else.
    static func decodeHexadecimal(_ text: [UInt8]) -> [UInt8]? {
        var digits = text
        let dashes = [8, 13, 18, 23]
        if digits.count == 36, dashes.allSatisfy({ digits[$0] == UInt8(ascii: "-") }) {
            for index in dashes.reversed() { digits.remove(at: index) }
        }
        let capitals = UInt8(ascii: "A")...UInt8(ascii: "F")
        return digits.contains(where: capitals.contains) ? nil : Hexadecimal.decode(digits)
    }
}
