/// Bytes that must never reach a log, an error, a dump or a file in the clear.
///
/// Every textual view of a `Secret` is `[redacted]`, also inside a struct that holds one. The bytes
/// live in one heap object that overwrites them when its last owner goes away.
package struct Secret: Sendable, CustomStringConvertible, CustomDebugStringConvertible,
    CustomReflectable
{
    private let storage: Storage

    /// Takes a copy of `bytes`; the caller's own array is not overwritten.
    package init(_ bytes: [UInt8]) {
        storage = Storage(bytes)
    }

    package init(_ text: String) {
        storage = Storage(Array(text.utf8))
    }

    /// The number of bytes; not secret.
    package var count: Int { storage.bytes.count }

    /// Lends the bytes to `body`, which must not keep them; throws what it throws.
    package func withBytes<R, E: Error>(_ body: ([UInt8]) throws(E) -> R) throws(E) -> R {
        try body(storage.bytes)
    }

    /// For a place that can only send text; bytes that are not UTF-8 are repaired.
    package func exposeText() -> String {
        String(decoding: storage.bytes, as: UTF8.self)
    }

    /// Compares in time that depends only on the lengths.
    package func isEqual(to other: Secret) -> Bool {
        guard storage.bytes.count == other.storage.bytes.count else { return false }
        var difference: UInt8 = 0
        for (left, right) in zip(storage.bytes, other.storage.bytes) {
            difference |= left ^ right
        }
        return difference == 0
    }

    package var description: String { "[redacted]" }
    package var debugDescription: String { "[redacted]" }
    package var customMirror: Mirror { Mirror(self, children: []) }
}

extension Secret {
    /// Immutable after `init`, hence safe to share; `deinit` runs alone by definition.
    private final class Storage: Sendable {
        let bytes: [UInt8]

        init(_ bytes: [UInt8]) {
            // A buffer of our own: sharing the caller's would overwrite the caller's bytes later.
            self.bytes = unsafe [UInt8](unsafeUninitializedCapacity: bytes.count) { buffer, count in
                count = unsafe buffer.initialize(from: bytes).index
            }
        }

        deinit {
            unsafe bytes.withUnsafeBufferPointer { buffer in
                let writable = unsafe UnsafeMutableBufferPointer(mutating: buffer)
                unsafe writable.update(repeating: 0)
            }
        }
    }
}
