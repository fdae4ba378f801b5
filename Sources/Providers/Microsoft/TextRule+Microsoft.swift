import Settings

/// What identifies a directory of Microsoft Entra, and a certificate.
extension TextRule {
    /// An identifier of a directory, or a word for several.
    static let tenant = TextRule(
        "tenant",
        "common, organizations, consumers, a GUID or a domain"
    ) { MicrosoftTenant($0) != nil && ($0 == $0.lowercased() || guid.accepts($0)) }

    /// 128 bits in the form of RFC 9562.
    static let guid = TextRule("GUID", "8-4-4-4-12 characters 0-9, a-f or A-F") {
        MicrosoftID.isGUID($0.lowercased())
    }

    static let sha256 = TextRule(
        "SHA-256",
        "64 characters 0-9, a-f or A-F; colons are left out of account"
    ) { text in
        let digits = text.utf8.filter { $0 != 0x3a }
        return digits.count == 64 && digits.allSatisfy(isHexadecimal)
    }
}
