extension Rule {
    /// 500 lines, 700 for a test: more is two types.
    static let fileLength = Rule("file-length") { file in
        guard isCode(file) else { return [] }
        let limit = file.isTest ? 700 : 500
        guard file.lineCount > limit else { return [] }
        return [(limit + 1, "\(file.lineCount) lines, at most \(limit); split it by type or role")]
    }

    /// 100 characters, as the formatter has it; it does not break comments.
    static let lineLength = Rule("line-length") { file in
        guard isCode(file) else { return [] }
        return (1...file.lineStarts.count).compactMap { line in
            let range = file.range(ofLine: line)
            guard range.count > 100 else { return nil }
            let count = String(decoding: file.bytes[range], as: UTF8.self).count
            return count > 100 ? (line, "\(count) characters, at most 100") : nil
        }
    }

    /// 70 lines: a function is read on one screen.
    static let functionLength = Rule("function-length") { file in
        let bodies = file.isSwift ? Declaration.bodies(in: file) : blocks(in: file)
        return bodies.compactMap { body in
            let count = body.count
            guard count > 70 else { return nil }
            return (body.lowerBound, "\(count) lines, at most 70; move straight-line work out")
        }
    }

    /// 256 KiB: what is larger is data and has no place among the sources.
    static let size = Rule("size") { file in
        guard file.bytes.count > 262_144 else { return [] }
        return [(1, "\(file.bytes.count) bytes, at most 262144; generate it or leave it out")]
    }

    private static func isCode(_ file: SourceFile) -> Bool {
        [".swift", ".c", ".h"].contains { file.path.hasSuffix($0) }
    }

    /// The functions of a C file, by the braces in the first column.
    private static func blocks(in file: SourceFile) -> [ClosedRange<Int>] {
        guard isCode(file) else { return [] }
        var bodies: [ClosedRange<Int>] = []
        var start: Int?
        for line in 1...file.lineStarts.count {
            let range = file.range(ofLine: line)
            guard let first = file.bytes[range].first else { continue }
            if first == UInt8(ascii: "}"), let begin = start {
                bodies.append(begin...line)
                start = nil
            } else if start == nil, file.bytes[range].last == UInt8(ascii: "{"),
                first != UInt8(ascii: " "), first != UInt8(ascii: "\t")
            {
                start = line
            }
        }
        return bodies
    }
}
