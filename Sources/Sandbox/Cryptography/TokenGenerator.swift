import COpenSSL

/// Makes tokens and codes.
enum TokenGenerator {
    /// One that looks like Apple's: a letter for the kind, a random part, a tail.
    static func token(_ letter: Character) -> String {
        let bytes = random()
        let head = Base64URL.text(bytes[..<12])
        return "\(letter)\(head).0.\(Base64URL.text(bytes[12...]))"
    }

    /// 256 random bits, base64url.
    static func text() -> String {
        Base64URL.text(random())
    }

    private static func random() -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: 32)
        let isDone = unsafe RAND_bytes(&bytes, Int32(bytes.count))
        precondition(isDone == 1, "libcrypto without randomness cannot serve TLS either")
        return bytes
    }
}
