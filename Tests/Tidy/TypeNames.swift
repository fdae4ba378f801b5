/// The types that each module declares outside of others, by their names.
struct TypeNames {
    private static let keywords = [
        "struct ", "class ", "enum ", "actor ", "protocol ", "typealias ",
    ]

    /// The modules that declare a name, of those that more than one declares.
    let shared: [String: Set<String>]

    /// Types that only their file sees do not count.
    init(_ files: [SourceFile]) {
        var modules: [String: Set<String>] = [:]
        for file in files where file.isSwift && !file.isTest {
            guard let module = file.target else { continue }
            for name in Self.names(in: file) { modules[name, default: []].insert(module) }
        }
        shared = modules.filter { $0.value.count > 1 }
    }

    private static func names(in file: SourceFile) -> [String] {
        keywords.flatMap { keyword in
            file.offsets(of: keyword).compactMap { offset in
                let start = file.lineStarts[file.line(of: offset) - 1]
                let before = String(decoding: file.code[start..<offset], as: UTF8.self)
                let isOutermost = before.first.map { $0 != " " } ?? true
                guard isOutermost, !before.contains("private "), !before.contains("import ") else {
                    return nil
                }
                let name = file.code[(offset + keyword.utf8.count)...].prefix(
                    while: SourceFile.isWord
                )
                return String(decoding: name, as: UTF8.self)
            }
        }
    }
}
