import Lifecycle
import Synchronization
import Testing

@testable import Engine

/// Takes commits and nothing else.
private final class CommitStore: StateStore {
    struct Full: StoreFailure { let isRetryable = true }

    struct Broken: Error {}

    let changes = Mutex<[StateChange]>([])
    private let failures: Mutex<[any Error]>
    private let update: IdentityUpdate?

    init(_ update: IdentityUpdate?, failures: [any Error] = []) {
        self.update = update
        self.failures = Mutex(failures)
    }

    func commit(_ batch: [StateChange]) async throws -> [ChangeUpdate?] {
        let failure = failures.withLock { $0.isEmpty ? nil : $0.removeFirst() }
        if let failure { throw failure }
        changes.withLock { $0 += batch }
        return batch.map { _ in update.map { .identity($0) } }
    }

    func dueRequests(
        at now: WallTime,
        limit: Int,
        excluding excluded: Set<RequestID>,
        laneLimits: [ProviderName: Int],
        in partitions: PartitionSet
    ) async throws -> DueRequests { throw Broken() }

    func openRequests(_ ids: [RequestID]) async throws -> [LoadedRequest] { throw Broken() }

    func dueRenewals(
        of providers: [ProviderName],
        at now: WallTime,
        limit: Int,
        in partitions: PartitionSet
    ) async throws -> DueRenewals { throw Broken() }

    func openExchanges(limit: Int) async throws -> [LoadedExchange] { throw Broken() }

    func pauses() async throws -> StoredPauses { throw Broken() }

    func purgeCount(since: WallTime) async throws -> Int { throw Broken() }
}

/// Seals by writing the context's field before the secret.
private struct LabelVault: CredentialVault {
    var isOpen = true

    func makeUserKey(userHash: [UInt8]) throws(VaultError) -> WrappedKey {
        throw VaultError(kind: .sealed)
    }

    func seal(
        _ secret: Secret,
        under key: WrappedKey,
        context: SealContext
    ) throws(VaultError) -> [UInt8] {
        guard isOpen else { throw VaultError(kind: .sealed) }
        return Array("\(context.field)=\(secret.exposeText())".utf8)
    }

    func open(
        _ sealed: [UInt8],
        under key: WrappedKey,
        context: SealContext
    ) throws(VaultError) -> Secret {
        let text = String(decoding: sealed, as: UTF8.self)
        guard text.hasPrefix(context.field + "=") else { throw VaultError(kind: .broken) }
        return Secret(String(text.dropFirst(context.field.count + 1)))
    }
}

private struct PlainHasher: KeyedHasher {
    func hash(_ text: String, domain: HashDomain) -> [UInt8] { Array("#\(text)".utf8) }
}

private struct Deaf: EngineObserver {
    func changed(_ request: Request) {}
    func announced(_ announcement: Announcement, of request: RequestID) {}
    func reported(_ report: EngineReport) {}
}

/// Time that passes at once.
private struct InstantClock: EngineClock {
    func now() -> WallTime { Sample.start }
    func sleep(until time: WallTime) async throws {}
}

@Suite("A rotated refresh token")
struct RotationServiceTests {
    private static func sealed() -> SealedCredential {
        var sealed = SealedCredential(
            id: Sample.credential(7),
            kind: .refreshToken,
            provider: Sample.apple,
            clientID: "c",
            userHash: [1],
            rowNonce: [2],
            sealedSecret: Array("credentials.secret=old".utf8),
            sealedCodeVerifier: nil,
            redirectURI: nil,
            fingerprint: Array("#old".utf8),
            userKey: WrappedKey(bytes: [], keyID: "k")
        )
        sealed.subject = LearnedSubject(
            hash: [3],
            rowNonce: [4],
            sealed: Array("identities.subject=sub".utf8)
        )
        return sealed
    }

    private static let update = IdentityUpdate(
        snapshot: IdentitySnapshot(
            identity: Sample.identity(1),
            provider: Sample.apple,
            clientID: "c",
            isShared: false,
            credentials: []
        ),
        credentials: [:],
        openRequests: []
    )

    private static func parts(_ store: CommitStore, _ vault: LabelVault) -> EnginePorts {
        EnginePorts(
            state: store,
            vault: vault,
            hasher: PlainHasher(),
            observer: Deaf(),
            clock: InstantClock(),
            makeRowNonce: { [9] }
        )
    }

    private static func opener(_ vault: LabelVault) -> CredentialOpener {
        CredentialOpener(vault: vault, hasher: PlainHasher(), makeRowNonce: { [9] })
    }

    @Test("it is durable in the old one's place, and told, before it counts")
    func kept() async throws {
        let store = CommitStore(Self.update, failures: [CommitStore.Full()])
        let told = Counter()
        let service = RotationService(
            Self.parts(store, LabelVault()),
            Self.opener(LabelVault()),
            of: Self.sealed()
        ) { _ in told.increase() }
        #expect(await service.keeper.keep(Secret("new")))
        try service.check()
        #expect(told.count == 1)
        let changes = store.changes.withLock { $0 }
        guard case .rotate(let id, let token, let time) = try #require(changes.first) else {
            Issue.record("another change")
            return
        }
        #expect(id == Sample.credential(7) && time == Sample.start)
        #expect(token.kind == .refreshToken && token.rowNonce == [9])
        #expect(token.sealedSecret == Array("credentials.secret=new".utf8))
        #expect(token.fingerprint == Array("#new".utf8))
    }

    @Test("it does not count when its credential is gone, the vault is sealed or the state fails")
    func notKept() async throws {
        let gone = CommitStore(nil)
        let sealed = CommitStore(Self.update)
        let broken = CommitStore(Self.update, failures: [CommitStore.Broken()])
        for (store, isOpen) in [(gone, true), (sealed, false), (broken, true)] {
            let vault = LabelVault(isOpen: isOpen)
            let told = Counter()
            let service = RotationService(
                Self.parts(store, vault),
                Self.opener(vault),
                of: Self.sealed()
            ) { _ in told.increase() }
            #expect(await !service.keeper.keep(Secret("new")))
            #expect(told.count == 0)
            guard store === broken else {
                try service.check()
                continue
            }
            #expect(throws: CommitStore.Broken.self) { try service.check() }
        }
    }

    @Test("a credential is opened with the subject of its identity")
    func subject() throws {
        let open = try Self.opener(LabelVault()).open(Self.sealed())
        #expect(open.subject?.exposeText() == "sub")
        #expect(open.secret.exposeText() == "old")
    }
}

private final class Counter: Sendable {
    private let value = Mutex(0)

    var count: Int { value.withLock { $0 } }

    func increase() { value.withLock { $0 += 1 } }
}
