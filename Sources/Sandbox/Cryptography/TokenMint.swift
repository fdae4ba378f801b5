import COpenSSL

/// Makes tokens and codes that look like Apple's: a letter for the kind, a random part, a tail.
enum TokenMint {
    static func token(_ letter: Character) -> String {
        var bytes = [UInt8](repeating: 0, count: 32)
        let isDone = unsafe RAND_bytes(&bytes, Int32(bytes.count))
        precondition(isDone == 1, "libcrypto without randomness cannot serve TLS either")
        let head = Base64URL.text(bytes[..<12])
        return "\(letter)\(head).0.\(Base64URL.text(bytes[12...]))"
    }
}
