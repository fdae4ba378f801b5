import Glibc

/// What is mounted below a folder, as this process sees it (proc_pid_mountinfo(5)).
struct MountPoints {
    /// Longest list that is read; some ten thousand mounts.
    private static let byteCountMax = 4_194_304

    private let paths: [[String]]

    /// Reads them anew; none where `/proc` says nothing.
    init(text: String = Self.read()) {
        paths = text.split(separator: "\n").compactMap { line in
            // The fifth field, with octal escapes for what would end it.
            let fields = line.split(separator: " ", omittingEmptySubsequences: false)
            guard fields.count > 4 else { return nil }
            return Self.unescaped(fields[4]).split(separator: "/").map(String.init)
        }
    }

    /// The names behind `root` of each mount below it.
    func below(_ root: String) -> [[String]] {
        let names = root.split(separator: "/").map(String.init)
        return paths.filter { $0.count > names.count && $0.starts(with: names) }
            .map { Array($0.dropFirst(names.count)) }
    }

    private static func unescaped(_ field: Substring) -> String {
        var bytes: [UInt8] = []
        var rest = field.utf8[...]
        while let byte = rest.popFirst() {
            let digits = rest.prefix(3)
            if byte == UInt8(ascii: "\\"), digits.count == 3,
                let value = UInt8(String(decoding: digits, as: UTF8.self), radix: 8)
            {
                bytes.append(value)
                rest = rest.dropFirst(3)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func read() -> String {
        let file = unsafe open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return "" }
        defer { close(file) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while bytes.count < byteCountMax {
            let count = unsafe buffer.withUnsafeMutableBytes { buffer in
                unsafe Glibc.read(file, buffer.baseAddress, buffer.count)
            }
            guard count > 0 else { break }
            bytes += buffer[..<count]
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
