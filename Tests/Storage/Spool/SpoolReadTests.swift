import Engine
import FoundationEssentials
import Lifecycle
import Synchronization
import Testing

@testable import Storage

@Suite("Reading the spool") struct SpoolReadTests {
    @Test("a read brings credentials and requests, and the next one nothing")
    func reading() async throws {
        let spool = try SpoolFixture()
        try spool.submit("u1", key: "k1")
        let row = try spool.store("u1", secret: "code-1")
        let database = spool.database()
        try #require(try database.open().value() == ())
        let reading = try await database.read(.tail).value()
        #expect(reading.isAtEnd)
        let credential = try #require(reading.batch.credentials.first)
        let submitted = credential.credential
        #expect(credential.spoolRow?.rowID == row)
        #expect(submitted.secret.exposeText() == "code-1")
        #expect(submitted.codeVerifier?.exposeText() == "verifier-u1")
        #expect(submitted.rawNonce?.exposeText() == "nonce-u1")
        #expect(submitted.kind == .authorizationCode)
        #expect(credential.userHash == SpoolHasher().hash("u1", domain: .user))
        let submission = try #require(reading.batch.requests.first)
        #expect(submission.kind == .deleteAccount)
        #expect(submission.user == UserID("u1"))
        #expect(submission.idempotency != nil)
        #expect(try await database.read(.tail).value().isEmpty)
        try spool.submit("u2")
        #expect(try await database.read(.tail).value().batch.requests.count == 1)
        #expect(try await database.read(.all).value().isEmpty, "no rescan was begun")
        #expect(database.beginRescan(isForced: false))
        #expect(try await database.read(.all).value().batch.requests.count == 2)
    }

    @Test(
        "a header that was overwritten past SQLite is found by the next read",
        arguments: [(0, SpoolFailure.corrupt), (63, .newerVersion)]
    )
    func header(offset: Int, failure: SpoolFailure) async throws {
        let spool = try SpoolFixture()
        let sound = try spool.bytes()
        let database = spool.database()
        try #require(try database.open().value() == ())
        _ = try await database.read(.tail).value()
        try SpoolFixture.patch(spool.path, at: offset, [2])
        #expect(await database.read(.tail).failure == failure)
        try SpoolFixture.patch(spool.path, at: offset, [sound[offset]])
        _ = try await database.read(.tail).value()
    }

    @Test("a code that was issued to no redirect URI has an empty one")
    func emptyRedirectURI() async throws {
        let spool = try SpoolFixture()
        try spool.store("u1", secret: "code-1")
        try spool.execute("UPDATE credentials SET redirect_uri = ''")
        let database = spool.database()
        try #require(try database.open().value() == ())
        let read = try await database.read(.tail).value().batch.credentials
        #expect(read.map(\.credential.redirectURI) == [""])
    }

    @Test("requests come only when no credential is left, whatever the limit")
    func order() async throws {
        let spool = try SpoolFixture()
        try spool.submit("u1")
        for index in 0..<5 { try spool.store("u\(index)", secret: "s\(index)") }
        let database = spool.database()
        try #require(try database.open().value() == ())
        var seen: [String] = []
        while true {
            let reading = try await database.read(.tail, limit: 2).value()
            seen += reading.batch.credentials.map { $0.credential.secret.exposeText() }
            seen += reading.batch.requests.map { $0.user.exposeText() }
            if reading.isAtEnd { break }
        }
        #expect(seen == ["s0", "s1", "s2", "s3", "s4", "u1"])
    }

    @Test(
        "a malformed request is refused with its reason and stops no other",
        arguments: [
            ("kind", "'delete'", RejectReason.unknownKind),
            ("kind", "'Delete_Account'", .unknownKind),
            ("user_id", "''", .malformedUserID), ("user_id", "'a' || char(10)", .malformedUserID),
            ("user_id", "'a' || char(0) || 'b'", .malformedUserID),
            ("user_id", "'a' || char(127)", .malformedUserID),
            ("user_id", "printf('%0256d', 1)", .malformedUserID),
            ("user_id", "CAST(x'ff61' AS TEXT)", .malformedUserID),
            ("idempotency_key", "printf('%0256d', 1)", .malformedRow),
            ("idempotency_key", "'a' || char(0)", .malformedRow),
            ("created_at", "'yesterday'", .malformedRow), ("created_at", "''", .malformedRow),
            ("options", "'[]'", .malformedOption), ("options", "'{'", .malformedOption),
            ("options", "'{\"grace_s\": -1}'", .malformedOption),
            ("options", "'{\"grace_s\": 1e2}'", .malformedOption),
            ("options", "'{\"grace_s\": 99999999999999999999}'", .malformedOption),
            ("options", "'{\"grace_s\": \"60\"}'", .malformedOption),
            ("options", "'{\"grace_s\": 1, \"grace_\\u0073\": 2}'", .malformedOption),
            ("options", "'{\"reason\": \"two words\"}'", .malformedOption),
            ("options", "'{\"reason\": null}'", .malformedOption),
            ("options", "'{\"account_created_at\": \"today\"}'", .malformedOption),
            ("options", "'{\"providers\": [\"apple\"]}'", .malformedOption),
            ("options", "'{\"token\": \"x\"}'", .unknownOption),
            ("options", "'{}' || char(0)", .malformedOption),
            ("options", "'{\"reason\":\"' || printf('%04200d', 1) || '\"}'", .malformedOption),
            ("options", "CAST(x'7bff7d' AS TEXT)", .malformedRow),
        ] as [(String, String, RejectReason)]
    )
    func malformedRequest(column: String, value: String, reason: RejectReason) async throws {
        let spool = try SpoolFixture()
        try spool.submit("before")
        try spool.submit("bad")
        try spool.force("UPDATE requests SET \(column) = \(value) WHERE user_id = 'bad'")
        try spool.submit("after")
        let database = spool.database()
        try #require(try database.open().value() == ())
        let batch = try await database.read(.tail).value().batch
        #expect(batch.requests.map { $0.user.exposeText() } == ["before", "after"])
        #expect(batch.refused.map(\.reason) == [reason])
        #expect(batch.refused.map(\.row.rowID) == [2])
    }

    @Test("options are read into their types")
    func options() async throws {
        let spool = try SpoolFixture()
        let text = """
            {"grace_s": 60, "reason": "user_request", "account_created_at": "2020-01-02T03:04:05Z",
             "providers": ["google", "apple"]}
            """
        try spool.submit("u", kind: "revoke_tokens", options: text)
        let database = spool.database()
        try #require(try database.open().value() == ())
        let submission = try #require(
            try await database.read(.tail).value().batch.requests.first
        )
        #expect(
            submission.options
                == SubmissionOptions(
                    graceSeconds: 60,
                    providers: [ProviderName("apple"), ProviderName("google")],
                    reason: "user_request",
                    accountCreatedAt: WallTime(rfc3339: "2020-01-02T03:04:05Z")
                )
        )
    }

    @Test(
        "a malformed credential is rejected with its reason and stops no other",
        arguments: [
            ("user_id", "''", CredentialRejectReason.malformedUserID),
            ("provider", "'a b'", .unknownProvider), ("provider", "''", .unknownProvider),
            ("kind", "'password'", .unknownCredentialKind), ("secret", "NULL", .missingSecret),
            ("secret", "''", .missingSecret), ("secret", "printf('%08193d', 1)", .malformedRow),
            ("secret", "CAST(x'ff' AS TEXT)", .malformedRow),
            ("client_id", "printf('%02049d', 1)", .malformedRow), ("subject", "''", .malformedRow),
            ("created_at", "'x'", .malformedRow),
        ] as [(String, String, CredentialRejectReason)]
    )
    func malformedCredential(
        column: String,
        value: String,
        reason: CredentialRejectReason
    ) async throws {
        let spool = try SpoolFixture()
        try spool.store("bad", secret: "s1")
        try spool.force("UPDATE credentials SET \(column) = \(value)")
        try spool.store("good", secret: "s2")
        let database = spool.database()
        try #require(try database.open().value() == ())
        let reading = try await database.read(.tail).value()
        #expect(reading.batch.credentials.map { $0.credential.secret.exposeText() } == ["s2"])
        #expect(reading.refusedCredentials.map(\.rejection) == [reason])
    }

    @Test("types that STRICT forbids are refused: the file may have been made by another")
    func wrongTypes() async throws {
        let spool = try SpoolFixture()
        try spool.submit("u")
        try spool.store("u", secret: "s")
        // Without STRICT the types of the rows are whatever was written.
        let raw = SpoolRawRow(
            table: .requests,
            id: 1,
            cells: [
                .text("delete_account"), .other(type: "integer", bytes: [49]), .null, .text("{}"),
                .text("2026-01-01T00:00:00Z"),
            ]
        )
        let checks = SpoolChecks(spoolID: "s", hasher: SpoolHasher())
        #expect(throws: RejectReason.malformedUserID) { try checks.request(raw) }
    }

    @Test("equal bytes in other columns or of other types have other fingerprints")
    func fingerprints() {
        func row(_ table: SpoolTable, _ cells: [SpoolCell]) -> [UInt8] {
            SpoolRawRow(table: table, id: 1, cells: cells).fingerprint(SpoolHasher())
        }
        let different = [
            row(.requests, [.text("a"), .null]), row(.requests, [.null, .text("a")]),
            row(.requests, [.text("a"), .text("")]), row(.requests, [.text("a\nnull"), .null]),
            row(.credentials, [.text("a"), .null]),
            row(.requests, [.other(type: "blob", bytes: [97]), .null]),
        ]
        #expect(Set(different).count == different.count)
    }

    @Test("rows with any id are found: negative, zero and the highest")
    func ids() async throws {
        let spool = try SpoolFixture()
        let ids: [Int64] = [.min, -5, 0, 7, .max]
        for id in ids {
            try spool.execute(
                "INSERT INTO requests (id, kind, user_id)"
                    + " VALUES (\(id), 'delete_account', 'u\(id)')"
            )
        }
        let database = spool.database()
        try #require(try database.open().value() == ())
        let batch = try await database.read(.tail).value().batch
        #expect(
            batch.requests.map(\.origin).count == 5
                && batch.requests.first?.user == UserID("u\(ids[0])")
        )
        #expect(try await database.read(.tail).value().isEmpty)
    }

    @Test("a row too large to be read is left alone and counted, the others come")
    func oversizedRow() async throws {
        let spool = try SpoolFixture()
        try spool.submit("before")
        try spool.force(
            "INSERT INTO requests (kind, user_id)"
                + " VALUES ('delete_account', printf('%02000000d', 1))"
        )
        try spool.force(
            "INSERT INTO requests (kind, user_id, state)"
                + " VALUES ('delete_account', 'x', printf('%02000000d', 1))"
        )
        try spool.submit("after")
        let database = spool.database()
        try #require(try database.open().value() == ())
        var users: [String] = []
        var unreadableCount = 0
        while true {
            let reading = try await database.read(.tail).value()
            users += reading.batch.requests.map { $0.user.exposeText() }
            unreadableCount += reading.unreadableCount
            if reading.isAtEnd { break }
        }
        #expect(users == ["before", "after"])
        #expect(unreadableCount == 2)
    }

    @Test("a read stays short among many settled rows")
    func longTable() async throws {
        let spool = try SpoolFixture()
        try spool.execute(
            """
            WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 60000)
            INSERT INTO requests (kind, user_id, state)
            SELECT 'delete_account', 'u' || i, 'completed' FROM c
            """
        )
        try spool.submit("last")
        // Every look at the clock takes 3 ms: a read has time for a few pieces.
        let now = Mutex(Duration.zero)
        let clock = SpoolClock(
            uptime: {
                now.withLock { now in
                    now += .milliseconds(3)
                    return now
                }
            },
            rest: { _ in }
        )
        let database = SpoolDatabase(path: spool.path, hasher: SpoolHasher(), clock: clock)
        try #require(try database.open().value() == ())
        var readings = 1
        var found = 0
        var reading = try await database.read(.tail).value()
        while !reading.isAtEnd {
            found += reading.batch.requests.count
            reading = try await database.read(.tail).value()
            readings += 1
        }
        #expect(found + reading.batch.requests.count == 1)
        #expect(readings > 4, "it was read piece by piece")
    }
}
