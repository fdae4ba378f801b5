import FoundationEssentials

/// Base64 with padding (RFC 4648 §4), as notes use it.
package enum NoteBase64 {
    /// The text of bytes.
    package static func encode(_ bytes: [UInt8]) -> String { Data(bytes).base64EncodedString() }

    /// The bytes; `nil` unless `text` is the one encoding of them.
    ///
    /// Two texts for one signature would let a note be changed without anybody noticing.
    package static func decode(_ text: some StringProtocol) -> [UInt8]? {
        let bytes = Data(base64Encoded: String(text)).map { Array($0) }
        return bytes.flatMap { encode($0) == String(text) ? $0 : nil }
    }
}
