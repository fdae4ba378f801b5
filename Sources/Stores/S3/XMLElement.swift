/// A strict reader of the XML that S3 answers with: elements and text, nothing that can refer
/// elsewhere.
///
/// Attributes are read over. Refused as a whole: document types, unknown entities, more than 16
/// levels, anything after the root.
struct XMLElement: Equatable, Sendable {
    let name: String
    private(set) var text = ""
    private(set) var children: [XMLElement] = []

    /// Reads a document; `nil` when it is not acceptable.
    init?(_ bytes: [UInt8]) {
        guard String(validating: bytes, as: UTF8.self) != nil else { return nil }
        var reader = Reader(bytes: bytes)
        guard let root = reader.document() else { return nil }
        self = root
    }

    private init(name: String) { self.name = name }

    /// The first child of a name.
    subscript(name: String) -> XMLElement? { children.first { $0.name == name } }

    /// Every child of a name.
    func all(_ name: String) -> [XMLElement] { children.filter { $0.name == name } }

    private struct Reader {
        static let depthMax = 16
        let bytes: [UInt8]
        var position = 0

        mutating func document() -> XMLElement? {
            if starts(with: "\u{feff}") { position += 3 }
            skipBlanks()
            if starts(with: "<?xml") {
                guard let end = find("?>") else { return nil }
                position = end + 2
            }
            skipBlanks()
            guard let root = element(depth: 0) else { return nil }
            skipBlanks()
            return position == bytes.count ? root : nil
        }

        private mutating func element(depth: Int) -> XMLElement? {
            guard depth < Self.depthMax, starts(with: "<"), let end = find(">") else { return nil }
            let tag = bytes[(position + 1)..<end]
            guard let first = tag.first, first != 0x21, first != 0x3f, first != 0x2f else {
                return nil
            }
            let name = Array(tag.prefix { ![0x20, 0x09, 0x0a, 0x0d, 0x2f].contains($0) })
            var element = XMLElement(name: String(decoding: name, as: UTF8.self))
            position = end + 1
            if tag.last == 0x2f { return element }
            while position < bytes.count {
                guard bytes[position] == 0x3c else {
                    guard let text = text() else { return nil }
                    element.text += text
                    continue
                }
                if starts(with: "</") {
                    guard let close = find(">") else { return nil }
                    let closing = bytes[(position + 2)..<close]
                    guard closing.elementsEqual(name) else { return nil }
                    position = close + 1
                    return element
                }
                guard let child = self.element(depth: depth + 1) else { return nil }
                element.children.append(child)
            }
            return nil
        }

        private mutating func text() -> String? {
            let end = bytes[position...].firstIndex(of: 0x3c) ?? bytes.count
            // By bytes: with a combining character behind it a semicolon is another Character.
            let parts = bytes[position..<end].split(
                separator: UInt8(ascii: "&"),
                omittingEmptySubsequences: false
            )
            position = end
            var text = Array(parts[0])
            for part in parts.dropFirst() {
                guard let close = part.firstIndex(of: UInt8(ascii: ";")),
                    let scalar = Self.entity(
                        Substring(decoding: part[..<close], as: UTF8.self)
                    )
                else { return nil }
                text += Array(String(scalar).utf8) + part[(close + 1)...]
            }
            return String(decoding: text, as: UTF8.self)
        }

        private static func entity(_ name: Substring) -> Unicode.Scalar? {
            switch name {
            case "amp": return "&"
            case "lt": return "<"
            case "gt": return ">"
            case "quot": return "\""
            case "apos": return "'"
            default: break
            }
            guard name.first == "#" else { return nil }
            let digits = name.dropFirst()
            let code =
                digits.first == "x" || digits.first == "X"
                ? UInt32(digits.dropFirst(), radix: 16) : UInt32(digits)
            return code.flatMap(Unicode.Scalar.init)
        }

        private func starts(with text: String) -> Bool {
            bytes[position...].starts(with: text.utf8)
        }

        private func find(_ text: String) -> Int? {
            let wanted = Array(text.utf8)
            var index = position
            while index + wanted.count <= bytes.count {
                if bytes[index] == wanted[0], bytes[index...].starts(with: wanted) { return index }
                index += 1
            }
            return nil
        }

        private mutating func skipBlanks() {
            while position < bytes.count, [0x20, 0x09, 0x0a, 0x0d].contains(bytes[position]) {
                position += 1
            }
        }
    }
}

extension String {
    /// The text as the content of an element.
    var escapedForXML: String {
        var result = ""
        for scalar in unicodeScalars {
            switch scalar {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\u{0}"..<" ": result += "&#\(scalar.value);"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}
