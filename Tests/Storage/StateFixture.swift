import Engine
import GRDB
import Glibc
import Lifecycle
import Synchronization
import Testing

@testable import Storage

/// A state database in a directory or schema of its own, with a clock that only the test moves.
final class StateFixture: Sendable {
    /// Empty for a state in PostgreSQL.
    let directory: String
    let database: StateDatabase
    static let start = WallTime(unixMilliseconds: 1_800_000_000_000)
    static let policy = IntakePolicy(
        gracePeriod: .zero,
        deadline: .seconds(30 * 86_400),
        stores: [StoreName("app-db")]
    )

    init(willCommit: @escaping @Sendable () throws -> Void = {}) throws {
        switch StateKind.current {
        case .sqlite:
            directory = try Self.makeDirectory()
            database = try StateDatabase.open(
                path: directory + "/state.db",
                now: { Self.start },
                willCommit: willCommit
            )
        case .postgresql:
            directory = ""
            let plan = try StateKind.prepared?.take() ?? Self.makeState()
            database = try StateDatabase.open(
                plan,
                now: { Self.start },
                willCommit: willCommit
            )
        }
    }

    /// Over a state in PostgreSQL of its own.
    init(_ plan: PostgreSQLStatePlan) throws {
        directory = ""
        database = try StateDatabase.open(plan, now: { Self.start })
    }

    static func makeState(
        uptime: (@Sendable () -> Duration)? = nil
    ) throws -> PostgreSQLStatePlan {
        let server = try StateServer.shared.get()
        let plan = server.plan(uptime: uptime)
        try server.create(plan)
        return plan
    }

    deinit { if !directory.isEmpty { Self.remove(directory) } }

    static func makeDirectory(in parent: String = "/tmp") throws -> String {
        var template = Array("\(parent)/expunged-state-XXXXXX".utf8CString)
        let made = unsafe template.withUnsafeMutableBufferPointer { buffer in
            guard let start = buffer.baseAddress else { return false }
            return unsafe mkdtemp(start) != nil
        }
        try #require(made)
        return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Removes the files of one directory; there are no others in it.
    static func remove(_ directory: String) {
        for suffix in ["", "-wal", "-shm", ".lock"] {
            unsafe unlink(directory + "/state.db" + suffix)
        }
        unsafe rmdir(directory)
    }

    static func hash(_ text: String) -> [UInt8] {
        var generator = SeededGenerator(seed: text.utf8.reduce(5381) { $0 &* 33 &+ UInt64($1) })
        return (0..<32).map { _ in UInt8.random(in: 0...255, using: &generator) }
    }

    static func user(_ text: String) -> UserID {
        guard let user = UserID(text) else {
            preconditionFailure("a test's user id is well-formed")
        }
        return user
    }

    static func submission(
        _ user: String,
        _ kind: RequestKind = .deleteAccount,
        origin: SubmissionOrigin = .control(uid: 1000, role: "submit")
    ) -> Submission {
        Submission(
            kind: kind,
            user: Self.user(user),
            userHash: hash(user),
            createdAt: start,
            origin: origin
        )
    }

    static func credential(
        _ user: String,
        _ secret: String,
        kind: CredentialKind = .refreshToken,
        provider: String = "apple",
        subject: String? = nil
    ) -> NewCredential {
        var new = NewCredential(
            userHash: hash(user),
            userKey: WrappedKey(bytes: hash("key of \(user)"), keyID: "k1"),
            userID: SealedUserID(rowNonce: [1], sealed: [2, 3]),
            provider: ProviderName(provider),
            clientID: "com.example.app",
            kind: kind,
            rowNonce: hash("nonce \(secret)"),
            sealedSecret: Array("sealed:\(secret)".utf8),
            fingerprint: hash(secret),
            createdAt: start
        )
        new.subject = subject.map {
            LearnedSubject(
                hash: hash($0),
                rowNonce: hash("n\($0)"),
                sealed: Array("sealed:\($0)".utf8)
            )
        }
        return new
    }

    private static let generator = Mutex((random: SeededGenerator(seed: 42), count: 0))

    /// In the order of birth, as in life.
    @Sendable static func newID() -> TimeOrderedID {
        generator.withLock { state in
            state.count += 1
            return TimeOrderedID(at: start + .milliseconds(state.count), entropy: &state.random)
        }
    }

    // MARK: Verbs

    func accept(
        _ submissions: Submission...,
        policy: IntakePolicy = StateFixture.policy
    ) async throws -> [SubmissionOutcome] {
        try await database.accept(
            submissions,
            policy: policy,
            now: Self.start,
            newID: { RequestID(Self.newID()) }
        )
    }

    /// Accepts one submission that must become a new request.
    func open(
        _ user: String,
        _ kind: RequestKind = .deleteAccount,
        directory: ProviderName? = nil
    ) async throws -> LoadedRequest {
        let policy = IntakePolicy(
            gracePeriod: Self.policy.gracePeriod,
            deadline: Self.policy.deadline,
            stores: Self.policy.stores,
            directory: directory
        )
        let submission = Self.submission(user, kind)
        guard case .accepted(let loaded, _) = try await accept(submission, policy: policy)[0]
        else {
            throw StorageError(.sqlite, "accept", at: "test")
        }
        return loaded
    }

    func store(_ credentials: NewCredential...) async throws -> [CredentialOutcome] {
        try await database.storeCredentials(
            credentials,
            now: Self.start,
            newID: { IdentityID(Self.newID()) }
        )
    }

    /// Stores one credential that must be taken.
    func keep(_ credential: NewCredential) async throws -> StoredCredential {
        guard case .stored(let stored) = try await store(credential)[0] else {
            throw StorageError(.sqlite, "store", at: "test")
        }
        return stored
    }

    func save(_ now: Request, was: Request) async throws {
        _ = try await database.commit([.save(now: now, was: was, at: Self.start)])
    }

    /// Runs SQL on the writing connection, past every rule of the code.
    func execute(_ sql: String) async throws {
        try await database.writer.run(sql)
    }

    /// Has the database refuse new rows of a table.
    func refuseRows(of table: String) async throws {
        guard database.backend is PostgreSQLState else {
            return try await execute(
                """
                CREATE TRIGGER refuse BEFORE INSERT ON \(table)
                BEGIN SELECT RAISE(ABORT, 'refused'); END
                """
            )
        }
        try await execute(
            """
            CREATE FUNCTION refuse () RETURNS trigger LANGUAGE plpgsql AS $$
            BEGIN RAISE EXCEPTION 'refused'; END $$
            """
        )
        try await execute(
            """
            CREATE TRIGGER refuse BEFORE INSERT ON \(table)
            FOR EACH ROW EXECUTE FUNCTION refuse ()
            """
        )
    }

    func allowRows(of table: String) async throws {
        let place = database.backend is PostgreSQLState ? " ON \(table)" : ""
        try await execute("DROP TRIGGER refuse\(place)")
    }

    func int(_ sql: String) async throws -> Int {
        try await database.read { try $0.int(sql) }
    }

    /// Where a text occurs in the files of the database.
    func filesHolding(_ text: String) -> [String] { filesHolding(Array(text.utf8)) }

    /// Where bytes occur in the files of the database.
    func filesHolding(_ bytes: [UInt8]) -> [String] {
        ["state.db", "state.db-wal", "state.db-shm"].filter { name in
            Self.read(directory + "/" + name).contains(bytes)
        }
    }

    private static func read(_ path: String) -> [UInt8] {
        let descriptor = unsafe Glibc.open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return [] }
        // Closing it drops SQLite's POSIX locks in this process; nobody else has the file open
        // here.
        defer { Glibc.close(descriptor) }
        var all: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = unsafe chunk.withUnsafeMutableBytes {
                unsafe Glibc.read(descriptor, $0.baseAddress, $0.count)
            }
            guard count > 0 else { return all }
            all += chunk[..<count]
        }
    }
}

/// A delete_account of one identity as it is after its revocation and purge.
extension Request {
    func completed() -> Request {
        var done = self
        for index in done.revocations.indices {
            done.revocations[index].verdict = .proven
            done.revocations[index].endedAt = StateFixture.start
            for credential in done.revocations[index].credentials.indices {
                done.revocations[index].credentials[credential].step = .proven
            }
        }
        for index in done.purges.indices { done.purges[index].step = .verified }
        done.phase = .completed
        done.endedAt = StateFixture.start
        done.dueAt = nil
        return done
    }
}

extension StateWriter {
    /// A mutation of one statement.
    func run(_ sql: String, _ values: [SQLValue] = []) async throws {
        try await perform { _ = try $0.run(sql, values) }
    }
}
