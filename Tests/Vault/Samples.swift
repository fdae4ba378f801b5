import Encoding
import Engine
import Glibc
import Lifecycle
import Testing

@testable import Vault

/// A vault with one user and one sealed value, and the facts they are bound to.
struct Sample {
    let vault: SealedVault
    let key: WrappedKey
    let context: SealContext
    let sealed: [UInt8]

    static let token = "r.0123456789abcdefghij.refresh-token-of-alice"
    static let userHash = [UInt8](repeating: 0x55, count: 32)

    init() throws {
        vault = SealedVault(keyring: VaultKeyring(active: try Self.vaultKey(1)))
        key = try vault.makeUserKey(userHash: Self.userHash)
        context = Self.context()
        sealed = try vault.seal(Secret(Self.token), under: key, context: context)
    }

    static func vaultKey(_ filler: UInt8) throws -> VaultKey {
        let text = Base64.encode([UInt8](repeating: filler, count: 32))
        return try VaultKey(text: Secret(text), name: "vault-key")
    }

    static func context(
        field: String = "credentials.secret",
        rowNonce: [UInt8] = [1, 2, 3, 4, 5, 6, 7, 8],
        provider: String = "apple",
        userHash: [UInt8] = Sample.userHash
    ) -> SealContext {
        SealContext(
            field: field,
            rowNonce: rowNonce,
            provider: ProviderName(provider),
            userHash: userHash
        )
    }
}

/// A directory that goes away with its owner.
final class TemporaryDirectory {
    let path: String

    init() throws {
        var template = Array("/tmp/expunged-vault-XXXXXX".utf8CString)
        let isMade = unsafe mkdtemp(&template) != nil
        try #require(isMade)
        path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    deinit {
        for name in names() { _ = unsafe unlink("\(path)/\(name)") }
        _ = unsafe rmdir(path)
    }

    func names() -> [String] {
        guard let directory = unsafe opendir(path) else { return [] }
        defer { unsafe closedir(directory) }
        var names: [String] = []
        while let entry = unsafe readdir(directory) {
            let name = unsafe withUnsafeBytes(of: entry.pointee.d_name) {
                unsafe String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names.sorted()
    }

    func write(_ name: String, _ bytes: [UInt8], mode: mode_t = 0o600) throws {
        let file = unsafe open("\(path)/\(name)", O_WRONLY | O_CREAT | O_EXCL, 0o600)
        try #require(file >= 0)
        defer { close(file) }
        try #require(unsafe Glibc.write(file, bytes, bytes.count) == bytes.count)
        try #require(fchmod(file, mode) == 0)
    }

    func read(_ name: String) throws -> [UInt8] {
        let file = unsafe open("\(path)/\(name)", O_RDONLY)
        try #require(file >= 0)
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 4_096)
        let count = unsafe Glibc.read(file, &bytes, bytes.count)
        return Array(bytes.prefix(max(0, count)))
    }

    func mode(of name: String) -> mode_t {
        var facts = stat()
        return unsafe stat("\(path)/\(name)", &facts) == 0 ? facts.st_mode & 0o7777 : 0
    }
}

/// Reads hexadecimal digits, as the vectors of the standards are printed.
func bytes(_ digits: String) -> [UInt8] {
    let values = digits.filter { !$0.isWhitespace }.map { UInt8($0.hexDigitValue ?? 0) }
    return stride(from: 0, to: values.count, by: 2).map { values[$0] << 4 | values[$0 + 1] }
}
