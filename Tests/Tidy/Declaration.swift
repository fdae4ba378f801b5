/// One Swift declaration: where its head begins and ends, and where its body is.
struct Declaration {
    /// From the keyword to the body, the `=` or the end of the line.
    let head: Range<Int>
    /// Between the braces; `nil` for a protocol's requirement or a stored property.
    let body: Range<Int>?

    private static let keywords = [
        "func ", "init(", "init?(", "init<", "deinit ", "subscript(", "var ",
    ]
    /// What may begin a further line of a head.
    private static let continuations = [
        "throws", "rethrows", "async", "->", "where", "{", ")", ":",
    ]

    /// Reads the declaration whose keyword is at `start`.
    init(in file: SourceFile, at start: Int, isProperty: Bool) {
        let code = file.code
        var depth = 0
        var position = start
        var bodyStart: Int?
        scan: while position < code.count {
            switch code[position] {
            case UInt8(ascii: "("), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: ")"), UInt8(ascii: "]"): depth -= 1
            case UInt8(ascii: "}") where depth == 0: break scan
            case UInt8(ascii: "{") where depth == 0:
                bodyStart = position
                break scan
            case UInt8(ascii: "=") where depth == 0 && isProperty: break scan
            case UInt8(ascii: "\n") where depth == 0 && !Self.continues(code, after: position):
                break scan
            default: break
            }
            position += 1
        }
        head = start..<position
        body = bodyStart.map { $0..<Self.end(of: $0, in: code) }
    }

    /// The lines of everything that runs: functions, initializers, computed properties.
    static func bodies(in file: SourceFile) -> [ClosedRange<Int>] {
        keywords.flatMap { keyword in
            file.offsets(of: keyword).compactMap { offset in
                let declaration = Declaration(
                    in: file,
                    at: offset,
                    isProperty: keyword == "var "
                )
                guard let body = declaration.body else { return nil }
                return file.line(
                    of: offset
                )...file.line(of: max(body.lowerBound, body.upperBound - 1))
            }
        }
    }

    private static func continues(_ code: [UInt8], after lineFeed: Int) -> Bool {
        var position = lineFeed
        while position < code.count,
            code[position] == UInt8(ascii: " ") || code[position] == UInt8(ascii: "\n")
        {
            position += 1
        }
        let next = code[position...].prefix(8)
        return continuations.contains { next.starts(with: $0.utf8) }
    }

    /// After the brace that closes the one at `start`.
    private static func end(of start: Int, in code: [UInt8]) -> Int {
        var depth = 0
        for position in start..<code.count {
            if code[position] == UInt8(ascii: "{") { depth += 1 }
            guard code[position] == UInt8(ascii: "}") else { continue }
            depth -= 1
            if depth == 0 { return position + 1 }
        }
        return code.count
    }
}
