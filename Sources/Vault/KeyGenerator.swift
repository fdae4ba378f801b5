import Encoding
internal import Engine
internal import Lifecycle

/// Makes a vault key file for `expunged --generate-vault-key FILE`.
package enum KeyGenerator {
    /// Writes a new vault key, base64 and a line feed, to a new file with mode 0600, durable on
    /// return.
    ///
    /// - Returns: The key's id, to be shown; not secret.
    /// - Throws: ``VaultSetupError`` when the file exists, cannot be written, or there is no
    ///   entropy.
    package static func makeVaultKey(
        at path: String,
        entropy: any Entropy = KernelEntropy()
    ) throws(VaultSetupError) -> String {
        var key: [UInt8]
        do throws(VaultError) {
            key = try entropy.bytes(VaultKey.byteCount)
        } catch {
            throw VaultSetupError(.library, action, at: path, "there is no entropy")
        }
        var text = Base64.encode(key)
        text.append(UInt8(ascii: "\n"))
        key.wipe()
        defer { text.wipe() }
        let (directory, name) = split(path)
        guard !name.isEmpty else {
            throw VaultSetupError(.system, action, at: path, "expected the path of a file")
        }
        let made = try VaultKey(text: Secret(text), name: path)
        try KeyFile(directory: directory, action: action).create(name, text)
        return made.id
    }

    private static let action = "make vault key"

    private static func split(_ path: String) -> (directory: String, name: String) {
        guard let slash = path.lastIndex(of: "/") else { return (".", path) }
        let directory = slash == path.startIndex ? "/" : String(path[..<slash])
        return (directory, String(path[path.index(after: slash)...]))
    }
}
