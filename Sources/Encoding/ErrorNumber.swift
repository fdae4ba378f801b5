import Glibc

/// An `errno` value with its text; strerror(3) is thread-safe since glibc 2.32.
package struct ErrorNumber: Equatable, CustomStringConvertible {
    let value: Int32

    package init(_ value: Int32) { self.value = value }

    package static var current: ErrorNumber { ErrorNumber(errno) }

    package var description: String {
        guard let text = unsafe strerror(value) else { return "error \(value)" }
        return unsafe String(cString: text).lowercased()
    }
}

/// The bytes behind a descriptor; `errno` says why a call failed.
package enum FileBytes {
    /// Room for a small file; for a larger one, as much again as it has so far.
    private static let byteCountMin = 1 << 14

    /// Reads the next bytes, fewer than `countMax` only at the end, and may block.
    package static func read(
        _ descriptor: Int32,
        into bytes: inout [UInt8],
        atMost countMax: Int
    ) -> Bool {
        bytes = []
        var count = 0
        while count < countMax {
            if count == bytes.count {
                let room = min(countMax - count, max(byteCountMin, count))
                bytes += [UInt8](repeating: 0, count: room)
            }
            let answer = unsafe bytes.withUnsafeMutableBytes { buffer in
                let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[count...])
                return unsafe Glibc.read(descriptor, rest.baseAddress, rest.count)
            }
            if answer < 0, errno == EINTR { continue }
            guard answer >= 0 else { return false }
            if answer == 0 { break }
            count += answer
        }
        bytes.removeLast(bytes.count - count)
        return true
    }

    /// What a command of sh(1) prints, at most `countMax` bytes; empty where it cannot be run.
    package static func output(of command: String, atMost countMax: Int) -> String {
        guard let pipe = unsafe popen(command, "r") else { return "" }
        defer { unsafe pclose(pipe) }
        var bytes: [UInt8] = []
        let descriptor = unsafe fileno(pipe)
        guard read(descriptor, into: &bytes, atMost: countMax) else { return "" }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Writes all of them, and may block.
    @discardableResult
    package static func write(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
        var offset = 0
        while offset < bytes.count {
            let written = unsafe bytes.withUnsafeBytes { buffer in
                let rest = unsafe UnsafeRawBufferPointer(rebasing: buffer[offset...])
                return unsafe Glibc.write(descriptor, rest.baseAddress, rest.count)
            }
            if written < 0, errno == EINTR { continue }
            guard written > 0 else { return false }
            offset += written
        }
        return true
    }
}
