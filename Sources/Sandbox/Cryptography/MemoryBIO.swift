import COpenSSL

/// PEM texts in a memory BIO of libcrypto.
enum MemoryBIO {
    /// Runs a `PEM_read_bio_…` function over a text.
    static func read(_ text: String, _ read: (OpaquePointer) -> OpaquePointer?) -> OpaquePointer? {
        let bytes = Array(text.utf8)
        return unsafe bytes.withUnsafeBytes { buffer in
            guard let bio = unsafe BIO_new_mem_buf(buffer.baseAddress, Int32(buffer.count)) else {
                return nil
            }
            defer { unsafe BIO_free(bio) }
            return unsafe read(bio)
        }
    }

    /// Runs a `PEM_write_bio_…` function, which answers 1 when it wrote, and returns the text.
    static func text(_ write: (OpaquePointer) -> Int32) throws(SandboxError) -> String {
        let failure = SandboxError(.cryptography, cannot: "write PEM", at: "BIO")
        guard let bio = unsafe BIO_new(BIO_s_mem()) else { throw failure }
        defer { unsafe BIO_free(bio) }
        guard unsafe write(bio) == 1 else { throw failure }
        var text: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = unsafe BIO_read(bio, &chunk, Int32(chunk.count))
            guard count > 0 else { break }
            text += chunk.prefix(Int(count))
        }
        return String(decoding: text, as: UTF8.self)
    }
}
