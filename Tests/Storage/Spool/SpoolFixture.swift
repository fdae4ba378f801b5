import Engine
import FoundationEssentials
import GRDB
import Glibc
import Lifecycle
import Synchronization
import Testing

@testable import Storage

/// A spool in a directory of its own, with the connection of an application.
final class SpoolFixture: Sendable {
    let directory: String
    let application: DatabaseQueue
    var path: String { directory + "/queue.db" }

    /// In memory a commit never waits for the disk.
    init(inMemory: Bool = false) throws {
        directory = try StateFixture.makeDirectory(in: inMemory ? "/dev/shm" : "/tmp")
        try SpoolFile.makeIfMissing(path: directory + "/queue.db")
        application = try Self.open(directory + "/queue.db")
    }

    deinit { Self.remove(directory) }

    /// As the guide tells applications to open it, but no slow machine ends a wait for a lock.
    static func open(_ path: String) throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.busyMode = .timeout(300)
        configuration.allowsUnsafeTransactions = true
        configuration.prepareDatabase { try $0.execute(sql: "PRAGMA synchronous = EXTRA") }
        return try DatabaseQueue(path: path, configuration: configuration)
    }

    static func remove(_ directory: String) {
        do {
            try FileManager.default.removeItem(atPath: directory)
        } catch {
            Issue.record("cannot remove a test's directory")
        }
    }

    // MARK: The application

    @discardableResult
    func submit(
        _ user: String,
        kind: String = "delete_account",
        options: String = "{}",
        key: String? = nil
    ) throws -> Int64 {
        try application.write { database in
            try database.execute(
                sql:
                    "INSERT INTO requests (kind, user_id, options, idempotency_key)"
                    + " VALUES (?, ?, ?, ?)",
                arguments: [kind, user, options, key]
            )
            return database.lastInsertedRowID
        }
    }

    @discardableResult
    func store(
        _ user: String,
        secret: String?,
        kind: String = "authorization_code",
        provider: String = "apple"
    ) throws -> Int64 {
        try application.write { database in
            try database.execute(
                sql: """
                    INSERT INTO credentials
                      (user_id, provider, kind, secret, code_verifier, raw_nonce)
                    VALUES (?, ?, ?, ?, 'verifier-' || ?, 'nonce-' || ?)
                    """,
                arguments: [user, provider, kind, secret, user, user]
            )
            return database.lastInsertedRowID
        }
    }

    /// Runs SQL past every CHECK, as a broken or hostile application may.
    func force(_ sql: String) throws {
        try application.writeWithoutTransaction { database in
            try database.execute(sql: "PRAGMA ignore_check_constraints = ON")
            try database.execute(sql: sql)
            try database.execute(sql: "PRAGMA ignore_check_constraints = OFF")
        }
    }

    func execute(_ sql: String) throws {
        try application.writeWithoutTransaction { try $0.execute(sql: sql) }
    }

    func text(_ sql: String) throws -> String? {
        try application.read { try String.fetchOne($0, sql: sql) }
    }

    func int(_ sql: String) throws -> Int {
        try application.read { try Int.fetchOne($0, sql: sql) ?? -1 }
    }

    /// Copies the spool's file while nobody writes.
    func copy(to path: String) throws {
        try FileManager.default.copyItem(atPath: self.path, toPath: path)
    }

    /// Changes bytes of the file past SQLite.
    static func patch(_ path: String, at offset: Int, _ bytes: [UInt8]) throws {
        let descriptor = unsafe Glibc.open(path, O_WRONLY)
        try #require(descriptor >= 0)
        defer { close(descriptor) }
        #expect(unsafe pwrite(descriptor, bytes, bytes.count, off_t(offset)) == bytes.count)
    }

    /// The file's change counter (sqlite.org/fileformat2.html): one more with every commit.
    func commitCount() throws -> Int {
        try bytes()[24..<28].reduce(0) { $0 << 8 | Int($1) }
    }

    func bytes() throws -> Data { try Data(contentsOf: URL(filePath: path)) }

    // MARK: The daemon's side

    /// Its clock stands still, so that no budget of time ends a read.
    func database() -> SpoolDatabase {
        let clock = SpoolClock(uptime: { .zero }, rest: { _ in })
        return SpoolDatabase(path: path, hasher: SpoolHasher(), clock: clock)
    }

    /// A lock is told after an hour: a test's thread that is held up keeps one for long.
    func service(
        _ intake: any SpoolIntake,
        _ source: any SpoolMirrorSource,
        _ health: SpoolHealthLog,
        clock: SpoolClock = .system(),
        sweepInterval: Duration = .milliseconds(40),
        lockedAfter: Duration = .seconds(3600)
    ) -> SpoolService {
        SpoolService(
            path: path,
            ports: SpoolService.Ports(
                intake: intake,
                source: source,
                hasher: SpoolHasher(),
                clock: clock,
                report: { health.add($0) }
            ),
            sweepInterval: sweepInterval,
            lockedAfter: lockedAfter
        )
    }
}

extension SpoolClock {
    /// The machine's clock, and what tells of each rest as it begins; none is remembered.
    static func telling() -> (clock: SpoolClock, rests: AsyncStream<Void>) {
        let (rests, signal) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(0))
        let system = SpoolClock.system()
        let clock = SpoolClock(
            uptime: system.uptime,
            rest: { pause in
                signal.yield()
                try await system.rest(pause)
            }
        )
        return (clock, rests)
    }
}

extension AsyncStream where Element == Void {
    /// Waits for so many signals from now on.
    func wait(for count: Int) async {
        var left = count
        for await _ in self {
            left -= 1
            if left == 0 { return }
        }
    }
}

extension SpoolAnswer {
    /// The value of an access that must have worked.
    func value(_ location: SourceLocation = #_sourceLocation) throws -> Value {
        guard case .done(let value) = self else {
            Issue.record("the spool answered \(self)", sourceLocation: location)
            throw StorageError(.sqlite, "use the spool", at: "test")
        }
        return value
    }

    var failure: SpoolFailure? {
        guard case .failure(let failure) = self else { return nil }
        return failure
    }
}

/// Stands in for the keyed hashes; equal for equal texts.
struct SpoolHasher: KeyedHasher {
    func hash(_ text: String, domain: HashDomain) -> [UInt8] {
        StateFixture.hash(domain.rawValue + "\n" + text)
    }
}

/// Collects changes of health and lets a test wait for one.
final class SpoolHealthLog: Sendable {
    private let changes = Mutex<[SpoolHealthChange]>([])
    private let stream: AsyncStream<Void>
    private let signal: AsyncStream<Void>.Continuation

    init() { (stream, signal) = AsyncStream.makeStream(bufferingPolicy: .unbounded) }

    func add(_ change: SpoolHealthChange) {
        changes.withLock { $0.append(change) }
        signal.yield()
    }

    var all: [SpoolHealthChange] { changes.withLock { $0 } }

    /// Waits until a change was told.
    func wait(for change: SpoolHealthChange) async {
        if all.contains(change) { return }
        for await _ in stream where all.contains(change) { return }
    }
}

/// Takes everything, remembers it, and lets a test wait for it.
final class SpoolTaker: SpoolIntake {
    struct State {
        var batches: [SpoolBatch] = []
        /// A row counts once, as in the state.
        var rows: Set<SpoolRow> = []
        var failures = 0
        var takenAt: [ContinuousClock.Instant] = []
    }

    let state = Mutex(State())
    private let signal: AsyncStream<Void>.Continuation
    private let stream: AsyncStream<Void>
    private let judge: @Sendable (CredentialOffer) -> SpoolCredentialReceipt

    init(
        failures: Int = 0,
        judge: @escaping @Sendable (CredentialOffer) -> SpoolCredentialReceipt = { _ in .sealed }
    ) {
        self.judge = judge
        (stream, signal) = AsyncStream.makeStream(bufferingPolicy: .unbounded)
        state.withLock { $0.failures = failures }
    }

    func take(_ batch: SpoolBatch) async throws -> SpoolReceipts {
        let now = ContinuousClock.now
        let fails = state.withLock { state in
            if state.failures > 0 {
                state.failures -= 1
                return true
            }
            let new = SpoolBatch(
                credentials: batch.credentials.filter { credential in
                    guard let row = credential.spoolRow else { return false }
                    return state.rows.insert(row).inserted
                },
                requests: batch.requests.filter { submission in
                    guard case .spool(let row) = submission.origin else { return false }
                    return state.rows.insert(row).inserted
                },
                refused: batch.refused.filter { state.rows.insert($0.row).inserted }
            )
            state.batches.append(new)
            if !new.requests.isEmpty || !new.credentials.isEmpty { state.takenAt.append(now) }
            return false
        }
        if fails { throw StorageError(.diskFull, "take", at: "test") }
        defer { signal.yield() }
        return SpoolReceipts(
            credentials: batch.credentials.map(judge),
            requests: batch.requests.map { _ in .accepted(RequestID(StateFixture.newID())) }
        )
    }

    var batches: [SpoolBatch] { state.withLock { $0.batches } }
    var users: [String] { batches.flatMap { $0.requests.map { $0.user.exposeText() } } }
    var secrets: [String] {
        batches.flatMap { $0.credentials.map { $0.credential.secret.exposeText() } }
    }

    /// Waits until so many requests and credentials came.
    func wait(for count: Int) async {
        func isEnough() -> Bool {
            batches.reduce(0) { $0 + $1.requests.count + $1.credentials.count + $1.refused.count }
                >= count
        }
        if isEnough() { return }
        for await _ in stream where isEnough() { return }
    }
}

/// Shows what a test put into it.
final class SpoolMirrorBox: SpoolMirrorSource {
    struct State {
        var rows: [MirrorRow] = []
        var confirmed: [MirrorRow] = []
        var again: [SpoolRow] = []
        var batchCount = 0
    }

    let state = Mutex(State())
    private let signal: AsyncStream<Void>.Continuation
    private let stream: AsyncStream<Void>

    init() { (stream, signal) = AsyncStream.makeStream(bufferingPolicy: .unbounded) }

    func put(_ rows: [MirrorRow]) { state.withLock { $0.rows += rows } }

    var isQuiet: Bool { true }

    func spoolMirrorRows(limit: Int) async throws -> [MirrorRow] {
        state.withLock { state in
            state.batchCount += 1
            return Array(state.rows.prefix(limit))
        }
    }

    func confirmMirrored(_ rows: [MirrorRow]) async throws {
        state.withLock { state in
            state.confirmed += rows
            state.rows.removeFirst(rows.count)
        }
        signal.yield()
    }

    func mirrorAgain(_ rows: [SpoolRow]) async throws { state.withLock { $0.again += rows } }

    func countRecreated(requests: [SpoolRow], credentials: [SpoolRow]) async throws -> Int { 0 }

    func waitForConfirmed(_ count: Int) async {
        if state.withLock({ $0.confirmed.count >= count }) { return }
        for await _ in stream where state.withLock({ $0.confirmed.count >= count }) { return }
    }
}

/// The real state as the daemon will connect it, without a vault.
struct SpoolStateIntake: SpoolIntake {
    let state: StateDatabase

    func take(_ batch: SpoolBatch) async throws -> SpoolReceipts {
        let stored = try await state.storeCredentials(
            batch.credentials.map(Self.sealed),
            now: StateFixture.start,
            newID: { IdentityID(StateFixture.newID()) }
        )
        let outcomes = try await state.accept(
            batch.requests,
            policy: StateFixture.policy,
            now: StateFixture.start,
            newID: { RequestID(StateFixture.newID()) }
        )
        try await state.refuse(batch.refused, now: StateFixture.start)
        return SpoolReceipts(
            credentials: stored.map { outcome in
                switch outcome {
                case .stored, .importedBefore: .sealed
                case .rejected(let reason), .refused(let reason, _): .rejected(reason)
                case .otherKey, .keyGone, .signInUsed: .postponed
                }
            },
            requests: outcomes.map { outcome in
                switch outcome {
                case .accepted(let loaded, _): .accepted(loaded.request.id)
                case .same(let id): .same(id)
                case .rejected(let reason): .rejected(reason)
                case .unproven: .rejected(.freshSignInRequired)
                }
            }
        )
    }

    private static func sealed(_ credential: CredentialOffer) -> NewCredential {
        let secret = credential.credential.secret.exposeText()
        var new = NewCredential(
            userHash: credential.userHash,
            userKey: WrappedKey(bytes: credential.userHash, keyID: "k1"),
            userID: SealedUserID(rowNonce: [1], sealed: [2, 3]),
            provider: credential.provider,
            clientID: "com.example.app",
            kind: credential.credential.kind,
            rowNonce: StateFixture.hash("nonce \(secret)"),
            sealedSecret: StateFixture.hash(secret),
            fingerprint: StateFixture.hash("f" + secret),
            createdAt: credential.createdAt
        )
        new.spoolRow = credential.spoolRow
        return new
    }
}

/// Runs a service while a test does something.
func running(_ service: SpoolService, _ body: () async throws -> Void) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try await service.run() }
        try await body()
        group.cancelAll()
    }
}
