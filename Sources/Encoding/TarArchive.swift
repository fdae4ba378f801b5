/// A tar file of the format ustar (POSIX.1-2017, pax, "ustar Interchange Format").
package enum TarArchive {
    package static let blockByteCount = 512
    /// What ends an archive.
    package static let end = [UInt8](repeating: 0, count: 2 * blockByteCount)
    private static let sizes = 124..<136
    private static let checksums = 148..<156
    /// What eleven octal digits hold; more is written in base 256, as GNU tar does.
    private static let octalMax = 1 << 33 - 1

    /// A member with all its bytes; its name has at most 100.
    package static func member(_ name: String, _ bytes: [UInt8]) -> [UInt8] {
        header(name, byteCount: bytes.count) + bytes + padding(bytes.count)
    }

    package static func header(_ name: String, byteCount: Int) -> [UInt8] {
        var block = [UInt8](repeating: 0, count: blockByteCount)
        func put(_ text: String, at offset: Int) {
            block.replaceSubrange(offset..<offset + text.utf8.count, with: text.utf8)
        }
        put(name, at: 0)
        put("0000600", at: 100)
        put("0000000", at: 108)
        put("0000000", at: 116)
        if byteCount <= octalMax {
            put(octal(byteCount, digits: 11), at: sizes.lowerBound)
        } else {
            let bytes = (0..<8).reversed().map { UInt8(byteCount >> (8 * $0) & 255) }
            block.replaceSubrange(sizes.upperBound - 8..<sizes.upperBound, with: bytes)
            block[sizes.lowerBound] = 0x80
        }
        put("00000000000", at: 136)
        put("0", at: 156)
        put("ustar", at: 257)
        put("00", at: 263)
        put(octal(checksum(block), digits: 6) + "\0 ", at: checksums.lowerBound)
        return block
    }

    /// The name and size of a member; `nil` for a block that is none of ours.
    package static func member(_ block: [UInt8]) -> (name: String, byteCount: Int)? {
        guard block.count == blockByteCount, block[156] == UInt8(ascii: "0"),
            block[257..<262].elementsEqual("ustar".utf8),
            number(block[checksums].prefix(6)) == checksum(block)
        else { return nil }
        let sizeField = block[sizes]
        let byteCount: Int?
        if sizeField.first == 0x80 {
            byteCount = sizeField.suffix(8).reduce(0) { $0 << 8 | Int($1) }
        } else {
            byteCount = number(sizeField.prefix(11))
        }
        guard let byteCount, byteCount >= 0 else { return nil }
        return (String(decoding: block[..<100].prefix { $0 != 0 }, as: UTF8.self), byteCount)
    }

    /// What fills the last block of a member.
    package static func padding(_ byteCount: Int) -> [UInt8] {
        let rest = byteCount % blockByteCount
        return [UInt8](repeating: 0, count: rest == 0 ? 0 : blockByteCount - rest)
    }

    /// Counts the field itself as spaces.
    private static func checksum(_ block: [UInt8]) -> Int {
        block.indices.reduce(0) { $0 + (checksums.contains($1) ? 32 : Int(block[$1])) }
    }

    private static func octal(_ number: Int, digits: Int) -> String {
        let text = String(number, radix: 8)
        return String(repeating: "0", count: digits - text.count) + text
    }

    private static func number(_ field: ArraySlice<UInt8>) -> Int? {
        Int(String(decoding: field, as: UTF8.self), radix: 8)
    }
}
