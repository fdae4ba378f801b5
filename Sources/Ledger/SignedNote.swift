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
