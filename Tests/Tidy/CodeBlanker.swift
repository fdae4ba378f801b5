/// Blanks comments and string literals of Swift text, so that a rule sees code only.
///
/// Offsets and lines stay what they were. Interpolations inside a string are blanked with it.
struct CodeBlanker {
    private let bytes: [UInt8]
    private var code: [UInt8]
    private var position = 0
    private let blanksStrings: Bool
    private var isKeeping = false

    private init(_ bytes: [UInt8], blanksStrings: Bool) {
        self.bytes = bytes
        code = bytes
        self.blanksStrings = blanksStrings
    }

    /// Blanks comments, and string literals unless `strings` is false.
    static func blank(_ bytes: [UInt8], strings: Bool = true) -> [UInt8] {
        var blanker = CodeBlanker(bytes, blanksStrings: strings)
        while blanker.position < bytes.count { blanker.step() }
        return blanker.code
    }

    private mutating func step() {
        switch bytes[position] {
        case UInt8(ascii: "/") where byte(after: 1) == UInt8(ascii: "/"): skipLineComment()
        case UInt8(ascii: "/") where byte(after: 1) == UInt8(ascii: "*"): skipBlockComment()
        case UInt8(ascii: "\""): skipString(hashCount: 0)
        case UInt8(ascii: "#"):
            let count = hashCount(at: position)
            if byte(after: count) == UInt8(ascii: "\"") {
                position += count
                skipString(hashCount: count)
            } else {
                position += count
            }
        default: position += 1
        }
    }

    private func byte(after count: Int) -> UInt8? {
        position + count < bytes.count ? bytes[position + count] : nil
    }

    private func hashCount(at start: Int) -> Int {
        bytes[start...].prefix { $0 == UInt8(ascii: "#") }.count
    }

    /// Blanks `count` bytes, line feeds excepted.
    private mutating func skip(_ count: Int) {
        for _ in 0..<count where position < bytes.count {
            if bytes[position] != UInt8(ascii: "\n"), !isKeeping {
                code[position] = UInt8(ascii: " ")
            }
            position += 1
        }
    }

    private mutating func skipLineComment() {
        while let byte = byte(after: 0), byte != UInt8(ascii: "\n") { skip(1) }
    }

    private mutating func skipBlockComment() {
        var depth = 0
        repeat {
            let pair = (byte(after: 0), byte(after: 1))
            if pair == (UInt8(ascii: "/"), UInt8(ascii: "*")) {
                depth += 1
                skip(2)
            } else if pair == (UInt8(ascii: "*"), UInt8(ascii: "/")) {
                depth -= 1
                skip(2)
            } else {
                skip(1)
            }
        } while depth > 0 && position < bytes.count
    }

    private func isQuoted(_ quoteCount: Int) -> Bool {
        (0..<quoteCount).allSatisfy { byte(after: $0) == UInt8(ascii: "\"") }
    }

    /// Starts at the opening quote.
    private mutating func skipString(hashCount hashes: Int) {
        let wasKeeping = isKeeping
        isKeeping = !blanksStrings
        defer { isKeeping = wasKeeping }
        // The text of a long literal begins on the next line; #""""# is a short one.
        let quoteCount = isQuoted(3) && byte(after: 3) == UInt8(ascii: "\n") ? 3 : 1
        skip(quoteCount)
        while let byte = byte(after: 0) {
            if quoteCount == 1, byte == UInt8(ascii: "\n") { return }
            if isQuoted(quoteCount), isFollowed(by: hashes, after: quoteCount) {
                return skip(quoteCount + hashes)
            }
            guard byte == UInt8(ascii: "\\"), isFollowed(by: hashes, after: 1) else {
                skip(1)
                continue
            }
            skip(1 + hashes)
            if self.byte(after: 0) == UInt8(ascii: "(") { skipInterpolation() } else { skip(1) }
        }
    }

    private func isFollowed(by hashes: Int, after count: Int) -> Bool {
        (0..<hashes).allSatisfy { byte(after: count + $0) == UInt8(ascii: "#") }
    }

    /// Starts at the opening parenthesis.
    private mutating func skipInterpolation() {
        var depth = 0
        while let byte = byte(after: 0) {
            switch byte {
            case UInt8(ascii: "\""): skipString(hashCount: 0)
            case UInt8(ascii: "("):
                depth += 1
                skip(1)
            case UInt8(ascii: ")"):
                depth -= 1
                skip(1)
                if depth == 0 { return }
            default: skip(1)
            }
        }
    }
}
