import Glibc

/// An `errno` value with its text (errno(3)).
///
/// glibc's strerror(3) is safe to call from any thread since 2.32.
struct ErrorNumber: Equatable, CustomStringConvertible {
    let value: Int32

    init(_ value: Int32) { self.value = value }

    /// The value that the last failed call of this thread left.
    static var current: ErrorNumber { ErrorNumber(errno) }

    var description: String {
        guard let text = unsafe strerror(value) else { return "error \(value)" }
        return unsafe String(cString: text).lowercased()
    }
}
