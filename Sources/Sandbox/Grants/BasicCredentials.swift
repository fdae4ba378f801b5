import FoundationEssentials

/// `Authorization: Basic` (RFC 7617).
struct BasicCredentials: Sendable {
    let name: String
    let password: String

    /// Takes a header apart; `nil` when it is missing or something else.
    init?(_ header: String?) {
        guard let header, header.lowercased().hasPrefix("basic "),
            let data = Data(base64Encoded: String(header.dropFirst(6)))
        else { return nil }
        let text = String(decoding: data, as: UTF8.self)
        guard let colon = text.firstIndex(of: ":") else { return nil }
        name = String(text[..<colon])
        password = String(text[text.index(after: colon)...])
    }

    /// base64 with padding (RFC 4648 §4).
    static func base64(_ bytes: [UInt8]) -> String {
        Data(bytes).base64EncodedString()
    }
}
