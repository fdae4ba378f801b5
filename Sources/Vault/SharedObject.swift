/// Owns one libcrypto object that many threads use at once.
///
/// `@unchecked Sendable`: only objects that are never changed after `init` are put here (a fetched
/// algorithm, a loaded private key, a keyed MAC context that is only copied from), and libcrypto
/// allows such objects to be read by any number of threads (openssl-threads(7)).
@safe
final class SharedObject: @unchecked Sendable {
    let pointer: OpaquePointer
    private let release: (OpaquePointer) -> Void

    /// Takes the reference over; `release` gives it back.
    init?(_ pointer: OpaquePointer?, release: @escaping @Sendable (OpaquePointer) -> Void) {
        guard let pointer = unsafe pointer else { return nil }
        unsafe self.pointer = pointer
        unsafe self.release = release
    }

    deinit { unsafe release(pointer) }
}
