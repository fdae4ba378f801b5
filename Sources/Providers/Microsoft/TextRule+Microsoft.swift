import Settings

/// What identifies a directory of Microsoft Entra, and a certificate.
extension TextRule {
    /// An identifier of a directory, or a word for several.
    static let tenant = TextRule(
        "tenant",
        "common, organizations, consumers, a GUID or a domain"
    ) { ["common", "organizations", "consumers"].contains($0) || isGUID($0) || isDomain($0) }

    /// 128 bits in the form of RFC 9562.
    static let guid = TextRule("GUID", "8-4-4-4-12 characters 0-9, a-f or A-F") { isGUID($0) }

    /// A fingerprint in hexadecimal.
    static let sha256 = TextRule(
        "SHA-256",
        "64 characters 0-9, a-f or A-F; colons are left out of account"
    ) { text in
        let digits = text.utf8.filter { $0 != 0x3a }
        return digits.count == 64 && digits.allSatisfy(isHexadecimal)
    }

    private static func isGUID(_ text: String) -> Bool {
        let groups = text.split(separator: "-", omittingEmptySubsequences: false)
        return groups.map(\.utf8.count) == [8, 4, 4, 4, 12]
            && groups.joined().utf8.allSatisfy(isHexadecimal)
    }

    /// At least two labels (RFC 1123 §2.1), in lower case.
    private static func isDomain(_ text: String) -> Bool {
        let labels = text.split(separator: ".", omittingEmptySubsequences: false)
        return labels.count > 1 && text.utf8.count <= 253
            && labels.allSatisfy { label in
                (1...63).contains(label.utf8.count)
                    && label.utf8.allSatisfy { isLower($0) || isDigit($0) || $0 == 0x2d }
            }
    }
}
