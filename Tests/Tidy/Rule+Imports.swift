extension Rule {
    /// Holds the direction of dependencies: programs, composition, adapters, ports, `Lifecycle`.
    static let imports = Rule("imports") { file in
        guard file.isSwift, let target = file.target else { return [] }
        let table = file.isTest ? ImportTable.tests : ImportTable.sources
        guard let allowed = table[target] else {
            return [(1, "add '\(target)' to Tests/Tidy/ImportTable.swift")]
        }
        return file.offsets(of: "import ").compactMap { offset in
            let line = file.line(of: offset)
            let words = file.trimmed(line: line).split(separator: " ").map(String.init)
            guard let index = words.firstIndex(of: "import"), index + 1 < words.count,
                words[..<index].allSatisfy({ Self.importPrefixes.contains($0) })
            else { return nil }
            var name = words[index + 1]
            if Self.importKinds.contains(name), index + 2 < words.count { name = words[index + 2] }
            let module = String(name.prefix { $0 != "." })
            guard !allowed.contains(module), module != "Foundation",
                !ImportTable.anywhere(isTest: file.isTest).contains(module)
            else { return nil }
            return (line, "\(target) may not import \(module); see docs/ARCHITECTURE.md, Modules")
        }
    }

    private static let importPrefixes: Set = [
        "internal", "package", "private", "fileprivate", "public", "@testable", "@preconcurrency",
        "@_exported", "@_implementationOnly",
    ]
    private static let importKinds: Set = [
        "struct", "class", "enum", "protocol", "func", "var", "let", "typealias",
    ]
}
