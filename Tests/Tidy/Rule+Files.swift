extension Rule {
    /// A file is named after what it holds; these names hold anything.
    static let fileNames = Rule("file-names") { file in
        let banned = [
            "Utils", "Utilities", "Helpers", "Helper", "Common", "Constants", "Extensions", "Misc",
            "Stub", "Placeholder",
        ]
        let stem = file.name.prefix { $0 != "." }
        guard banned.contains(where: { stem.hasSuffix($0) }) else { return [] }
        return [(1, "name the file after the one type it holds, extensions Type+Role")]
    }

    /// A new kind of file is a decision.
    static let extensions = Rule("extensions") { file in
        let known: Set = [
            "swift", "c", "cpp", "h", "modulemap", "md", "toml", "txt", "json", "yml", "mk",
            "service",
            "socket", "target", "timer", "sysusers", "tmpfiles", "catalog", "conf", "in", "sh",
            "sql", "py", "scd", "pml", "svg",
        ]
        let whole: Set = [
            ".ci/run", ".gitignore", "Benchmarks/.gitignore", ".swift-format", "Makefile",
            "LICENSE", "NOTICE",
        ]
        let parts = file.name.split(separator: ".", omittingEmptySubsequences: false)
        if whole.contains(file.path)
            || parts.count > 1 && known.contains(String(parts[parts.count - 1]))
        {
            return []
        }
        // Manual pages: expunged.8, expunged.toml.5.
        if file.path.hasPrefix("docs/"), parts.count > 1,
            ["1", "5", "7", "8"].contains(parts[parts.count - 1])
        {
            return []
        }
        // Generated, and held by a test of Tests/Control.
        if file.path.hasPrefix("completions/") { return [] }
        if file.bytes.starts(with: "#!".utf8) { return [] }
        return [(1, "unknown kind of file; add it to Tests/Tidy/Rule+Files.swift or leave it out")]
    }

    /// Scripts are executable and nothing else is.
    static let executableBits = Rule("executable-bits") { file in
        let isScript = file.bytes.starts(with: "#!".utf8)
        guard isScript != file.isExecutable else { return [] }
        return [(1, isScript ? "a script must be executable" : "only a script may be executable")]
    }

    /// No blanks at the end of a line, no tabs in Swift, no carriage returns, one line feed at the
    /// end.
    static let blanks = Rule("blanks") { file in
        var found: [(line: Int, advice: String)] = []
        for needle in [" \n", "\t\n", "\r"] {
            found += file.rawOffsets(of: needle).map {
                (file.line(of: $0), "remove blanks and carriage returns at the end of the line")
            }
        }
        if file.isSwift {
            found += file.rawOffsets(of: "\t").map {
                (file.line(of: $0), "use four spaces, not a tab")
            }
        }
        let feed = UInt8(ascii: "\n")
        if let last = file.bytes.last, last != feed || file.bytes.suffix(2) == [feed, feed] {
            found.append((file.lineCount, "end the file with exactly one line feed"))
        }
        return found
    }

    /// What is left to do has an issue.
    static let ticketedTodos = Rule("todo") { file in
        file.rawOffsets(of: "TODO").compactMap { offset in
            let rest = file.bytes[(offset + 4)...].prefix(12)
            let digits = rest.dropFirst(2).prefix { (0x30...0x39).contains($0) }
            let isTicketed =
                rest.starts(with: "(#".utf8) && !digits.isEmpty
                && rest.dropFirst(2 + digits.count).first == UInt8(ascii: ")")
            return isTicketed ? nil : (file.line(of: offset), "write the issue's number: TODO(#n)")
        }
    }
}
