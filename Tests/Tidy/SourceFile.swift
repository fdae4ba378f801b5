import Glibc

/// One text file of the project, indexed for searching by bytes; regular expressions are too slow
/// here.
struct SourceFile: Sendable {
    /// Relative to the root of the project.
    let path: String
    let isExecutable: Bool
    let bytes: [UInt8]
    /// As long as `bytes`; in Swift files the texts of comments and string literals are blanked.
    let code: [UInt8]
    /// Where each line begins.
    let lineStarts: [Int]

    init(path: String, bytes: [UInt8], isExecutable: Bool = false) {
        self.path = path
        self.bytes = bytes
        self.isExecutable = isExecutable
        code = path.hasSuffix(".swift") ? CodeBlanker.blank(bytes) : bytes
        var starts = [0]
        for (offset, byte) in bytes.enumerated() where byte == UInt8(ascii: "\n") {
            starts.append(offset + 1)
        }
        lineStarts = starts
    }

    /// A sample for a test.
    init(_ path: String, _ text: String, isExecutable: Bool = false) {
        self.init(path: path, bytes: Array(text.utf8), isExecutable: isExecutable)
    }

    var name: String {
        String(path[(path.lastIndex(of: "/").map(path.index(after:)) ?? path.startIndex)...])
    }

    var isSwift: Bool { path.hasSuffix(".swift") }

    /// Sources/X/… and Tests/X/… are of X; other files of nothing.
    var target: String? {
        let parts = path.split(separator: "/")
        guard parts.count > 2, parts[0] == "Sources" || parts[0] == "Tests" else { return nil }
        return String(parts[1])
    }

    var isTest: Bool { path.hasPrefix("Tests/") }

    /// The number of lines; a text that ends with a line feed has no further line.
    var lineCount: Int {
        bytes.last == UInt8(ascii: "\n") ? lineStarts.count - 1 : lineStarts.count
    }

    /// The number of the line that holds `offset`, from 1.
    func line(of offset: Int) -> Int {
        var (low, high) = (0, lineStarts.count)
        while high - low > 1 {
            let middle = (low + high) / 2
            if lineStarts[middle] <= offset { low = middle } else { high = middle }
        }
        return low + 1
    }

    /// The bytes of a line without its line feed; `line` is from 1.
    func range(ofLine line: Int) -> Range<Int> {
        let start = lineStarts[line - 1]
        let end = line < lineStarts.count ? lineStarts[line] - 1 : bytes.count
        return start..<max(start, end)
    }

    /// A line as text, comments and all, without blanks around it.
    func trimmed(line: Int) -> String {
        let text = String(decoding: bytes[range(ofLine: line)], as: UTF8.self)
        return String(text.drop { $0 == " " })
    }
}

extension SourceFile {
    /// Where `needle` begins in the code, each time as a word of its own and not as a member.
    func offsets(of needle: String) -> [Int] {
        Self.offsets(of: needle, in: code).filter { offset in
            guard offset > 0 else { return true }
            let before = code[offset - 1]
            return !Self.isWord(before) && before != UInt8(ascii: ".")
        }
    }

    /// Like ``offsets(of:)`` without the places where a function of that name is declared.
    func uses(of needle: String) -> [Int] {
        offsets(of: needle).filter { !code[..<$0].suffix(5).elementsEqual("func ".utf8) }
    }

    /// Where `needle` begins in the text, comments and strings included.
    func rawOffsets(of needle: String) -> [Int] { Self.offsets(of: needle, in: bytes) }

    static func isWord(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
            true
        default: false
        }
    }

    static func offsets(of needle: String, in bytes: [UInt8]) -> [Int] {
        let needle = Array(needle.utf8)
        var found: [Int] = []
        unsafe bytes.withUnsafeBytes { haystack in
            guard let base = haystack.baseAddress else { return }
            var start = 0
            while start + needle.count <= haystack.count {
                let room = haystack.count - needle.count - start + 1
                let hit = unsafe memchr(base + start, Int32(needle[0]), room)
                guard let hit = unsafe hit else { return }
                let offset = unsafe UnsafeRawPointer(hit) - base
                if unsafe memcmp(hit, needle, needle.count) == 0 { found.append(offset) }
                start = offset + 1
            }
        }
        return found
    }
}
