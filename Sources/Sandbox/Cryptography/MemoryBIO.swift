import COpenSSL

/// Collects what libcrypto writes to a memory BIO.
enum MemoryBIO {
    /// Runs a `PEM_write_bio_…` function and returns the text it wrote.
    ///
    /// - Parameter write: Gets the BIO; answers 1 when it wrote.
    /// - Returns: The text.
    /// - Throws: ``SandboxError`` when nothing was written.
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
