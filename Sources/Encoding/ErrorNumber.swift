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
