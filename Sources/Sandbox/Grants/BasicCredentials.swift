import Encoding

/// `Authorization: Basic` (RFC 7617).
struct BasicCredentials: Sendable {
    let name: String
    let password: String

    /// Takes a header apart; `nil` when it is missing or something else.
    init?(_ header: String?) {
        guard let header, header.lowercased().hasPrefix("basic "),
            let bytes = Base64.decode(header.utf8.dropFirst(6))
        else { return nil }
        let text = String(decoding: bytes, as: UTF8.self)
        guard let colon = text.firstIndex(of: ":") else { return nil }
        name = String(text[..<colon])
        password = String(text[text.index(after: colon)...])
    }
}
