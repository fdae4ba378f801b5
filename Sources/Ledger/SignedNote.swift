import Cryptography
import Encoding

/// A text with signatures under it, as C2SP signed-note lays it down.
///
/// The text ends with a newline; after an empty line, each signature is a line of an em dash, the
/// key's name and base64 of the key's id and the signature.
/// https://github.com/C2SP/C2SP/blob/main/signed-note.md
package struct SignedNote: Hashable, Sendable {
    /// One signature line.
    package struct Signature: Hashable, Sendable {
        package let keyName: String
        /// ``NoteKey/id`` of the key.
        package let keyID: [UInt8]
        package let bytes: [UInt8]
    }

    /// With its final newline.
    package let text: String
    package let signatures: [Signature]

    package init(text: String, signatures: [Signature]) {
        self.text = text
        self.signatures = signatures
    }

    /// Reads a note; `nil` for what is none.
    ///
    /// Longer ones than 64 KiB are refused: a checkpoint has some hundred bytes.
    package init?(_ note: String) {
        guard note.utf8.count <= 65_536, note.utf8.last == UInt8(ascii: "\n"),
            let gap = Self.lastGap(in: note)
        else { return nil }
        let text = String(note[..<note.index(after: gap)])
        let lines = note[note.index(gap, offsetBy: 2)...].dropLast()
            .split(separator: "\n", omittingEmptySubsequences: false)
        var signatures: [Signature] = []
        for line in lines {
            let words = line.split(separator: " ", omittingEmptySubsequences: false)
            guard words.count == 3, words[0] == "\u{2014}", !words[1].isEmpty,
                let bytes = Base64.decode(words[2].utf8), bytes.count > 4
            else { return nil }
            signatures.append(
                Signature(
                    keyName: String(words[1]),
                    keyID: Array(bytes[..<4]),
                    bytes: Array(bytes[4...])
                )
            )
        }
        guard !signatures.isEmpty, !text.isEmpty else { return nil }
        self.init(text: text, signatures: signatures)
    }

    package var description: String {
        let lines = signatures.map { signature in
            let bytes = Base64.text(signature.keyID + signature.bytes)
            return "\u{2014} \(signature.keyName) \(bytes)\n"
        }
        return text + "\n" + lines.joined()
    }

    /// Where the last empty line begins: the newline that ends the text before it.
    private static func lastGap(in note: String) -> String.Index? {
        var index = note.endIndex
        var later: Character?
        while index > note.startIndex {
            index = note.index(before: index)
            if note[index] == "\n", later == "\n", note.index(index, offsetBy: 2) < note.endIndex {
                return index
            }
            later = note[index]
        }
        return nil
    }
}

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
