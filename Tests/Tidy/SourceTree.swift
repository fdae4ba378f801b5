import FoundationEssentials
import Testing

/// The project's files as they lie on disk, without what is built or fetched.
struct SourceTree: Sendable {
    let files: [SourceFile]

    static let root = String(#filePath.dropLast("/Tests/Tidy/SourceTree.swift".count))

    /// Read once for all rules.
    static let shared = Result { try SourceTree(root: root) }

    /// Hidden at the root, but ours.
    private static let hidden: Set = [".ci", ".gitignore", ".swift-format"]
    /// Written by the package manager and by the compilers of other languages, and never committed.
    private static let generated: Set = ["Package.resolved", "__pycache__", ".venv"]

    init(root: String) throws {
        var files: [SourceFile] = []
        for name in try FileManager.default.contentsOfDirectory(atPath: root).sorted() {
            guard !name.hasPrefix(".") || Self.hidden.contains(name) else { continue }
            try Self.collect(name, below: root, into: &files)
        }
        self.files = files
    }

    func file(_ path: String) throws -> SourceFile {
        try #require(files.first { $0.path == path }, "\(path) is missing")
    }

    private static func collect(
        _ path: String,
        below root: String,
        into files: inout [SourceFile]
    ) throws {
        let manager = FileManager.default
        let name = path.split(separator: "/").last.map(String.init) ?? path
        guard !generated.contains(name), !name.hasSuffix(".swp") else { return }
        let full = "\(root)/\(path)"
        let facts = try manager.attributesOfItem(atPath: full)
        switch facts[.type] as? FileAttributeType {
        case .typeDirectory:
            for child in try manager.contentsOfDirectory(atPath: full).sorted() {
                try collect("\(path)/\(child)", below: root, into: &files)
            }
        case .typeRegular:
            let mode = facts[.posixPermissions] as? Int ?? 0
            let bytes = try [UInt8](Data(contentsOf: URL(filePath: full)))
            files.append(SourceFile(path: path, bytes: bytes, isExecutable: mode & 0o111 != 0))
        default: break
        }
    }
}
