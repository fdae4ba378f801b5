import Engine
import Lifecycle
import Storage
import Testing
import Vault

@testable import Daemon

/// Users with one sealed value each, and what must come out when it is opened.
struct SealedUsers: Sendable {
    private struct Value: Sendable {
        let userHash: [UInt8]
        let sealed: [UInt8]
        let context: SealContext
        let text: String
    }

    private let values: [Value]

    static func vault(_ active: UInt8, retired: [UInt8] = []) throws -> SealedVault {
        let retired = try retired.map { try Bench.key($0) }
        return SealedVault(keyring: VaultKeyring(active: try Bench.key(active), retired: retired))
    }

    /// Seals under the key of this filler and stores in one commit.
    static func store(
        _ count: Int,
        in state: StateDatabase,
        under filler: UInt8
    ) async throws -> SealedUsers {
        let vault = try vault(filler)
        var credentials: [NewCredential] = []
        var values: [Value] = []
        for number in 0..<count {
            let hash = (0..<32).map { UInt8(truncatingIfNeeded: number >> ($0 % 3 * 8)) }
            let context = SealContext(
                field: "credentials.secret",
                rowNonce: [UInt8(number % 251), 7],
                provider: ProviderName("apple"),
                userHash: hash
            )
            let key = try vault.makeUserKey(userHash: hash)
            let text = "token \(number)"
            let sealed = try vault.seal(Secret(text), under: key, context: context)
            values.append(Value(userHash: hash, sealed: sealed, context: context, text: text))
            credentials.append(
                NewCredential(
                    userHash: hash,
                    userKey: key,
                    userID: SealedUserID(rowNonce: [1], sealed: [2, 3]),
                    provider: context.provider,
                    clientID: "com.example.app",
                    kind: .refreshToken,
                    rowNonce: context.rowNonce,
                    sealedSecret: sealed,
                    fingerprint: hash,
                    createdAt: Bench.start
                )
            )
        }
        let generator = IdentifierGenerator(now: { Bench.start })
        _ = try await state.storeCredentials(
            credentials,
            now: Bench.start,
            newID: { generator.identityID() }
        )
        return SealedUsers(values: values)
    }

    func expectOpen(in state: StateDatabase, with vault: SealedVault) async throws {
        for value in values {
            let key = try #require(try await state.userKey(value.userHash))
            let opened = try vault.open(value.sealed, under: key, context: value.context)
            guard opened.exposeText() != value.text else { continue }
            Issue.record("another text came out")
        }
    }
}
