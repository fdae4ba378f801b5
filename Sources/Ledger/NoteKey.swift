import Cryptography
import Encoding

/// The public half of the key that signs notes: Ed25519 with a name (C2SP signed-note).
package struct NoteKey: Hashable, Sendable, CustomStringConvertible {
    /// Ed25519 among the signature types of signed-note.
    private static let ed25519: UInt8 = 1

    package let name: String
    /// 32 bytes (RFC 8032 §5.1.5).
    package let publicKey: [UInt8]
    /// Four bytes of SHA-256 over the name, a newline, the type and the public key.
    package let id: [UInt8]

    /// Names a key; `nil` for a name with a space or a plus, or a key of another length.
    package init?(name: String, publicKey: [UInt8]) {
        let isName = !name.isEmpty && name.utf8.allSatisfy { $0 > 0x20 && $0 != 0x2b && $0 < 0x7f }
        guard isName, publicKey.count == 32 else { return nil }
        self.name = name
        self.publicKey = publicKey
        let named = Array(name.utf8) + [UInt8(ascii: "\n"), Self.ed25519] + publicKey
        id = Array(SHA256.hash(named).prefix(4))
    }

    /// Reads the text form; `nil` when it is not one, its id included.
    package init?(_ text: String) {
        let parts = text.split(separator: "+", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, let bytes = Base64.decode(parts[2].utf8),
            bytes.first == Self.ed25519
        else { return nil }
        self.init(name: String(parts[0]), publicKey: Array(bytes[1...]))
        guard parts[1] == Hexadecimal.text(id) else { return nil }
    }

    /// The text form: name, id and key, joined by plus signs.
    package var description: String {
        "\(name)+\(Hexadecimal.text(id))+\(Base64.text([Self.ed25519] + publicKey))"
    }

    /// The signatures of `note` that claim to be this key's.
    package func signatures(of note: SignedNote) -> [[UInt8]] {
        note.signatures.filter { $0.keyName == name && $0.keyID == id }.map(\.bytes)
    }

    /// Whether the note has exactly one signature, and that is this key's.
    ///
    /// A second one would be a place to change without anybody noticing.
    package func isSigner(of note: SignedNote) -> Bool {
        guard note.signatures.count == 1, let signature = signatures(of: note).first else {
            return false
        }
        return VerifyingKey(ed25519: publicKey)?.isValid(signature, of: Array(note.text.utf8))
            ?? false
    }

    /// Puts an Ed25519 signature of this key under a text that ends with a newline; throws what
    /// `sign` throws.
    package func note<Failure: Error>(
        _ text: String,
        sign: ([UInt8]) throws(Failure) -> [UInt8]
    ) throws(Failure) -> SignedNote {
        let signature = try sign(Array(text.utf8))
        return SignedNote(
            text: text,
            signatures: [.init(keyName: name, keyID: id, bytes: signature)]
        )
    }
}
