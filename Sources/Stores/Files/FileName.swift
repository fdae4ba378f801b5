/// The name of an entry as the kernel has it: bytes, not always UTF-8, with a final NUL.
struct FileName: Hashable {
    let bytes: [CChar]

    init(_ name: String) { bytes = Array(name.utf8CString) }

    /// Copies a name that ends with a NUL.
    init(copying name: UnsafePointer<CChar>) {
        var bytes: [CChar] = []
        var index = 0
        while unsafe name[index] != 0 {
            bytes.append(unsafe name[index])
            index += 1
        }
        self.bytes = bytes + [0]
    }

    /// The text, when it is one.
    var text: String? {
        String(validating: bytes.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Whether it is none, but leads through a folder.
    var isPath: Bool { bytes.contains(0x2f) }

    /// `.` or `..`, which every folder has.
    var isSelfOrParent: Bool { bytes == [0x2e, 0] || bytes == [0x2e, 0x2e, 0] }

    /// Several names as one path, for one call.
    static func path(_ names: some Collection<FileName>) -> FileName {
        FileName(bytes: Array(names.map { $0.bytes.dropLast() }.joined(separator: [0x2f])) + [0])
    }

    private init(bytes: [CChar]) { self.bytes = bytes }
}
