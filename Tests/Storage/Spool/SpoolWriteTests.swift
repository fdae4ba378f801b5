import Engine
import FoundationEssentials
import GRDB
import Lifecycle
import Testing

@testable import Storage

@Suite("Writing the spool") struct SpoolWriteTests {
    private func mirrorRow(
        _ submission: Submission,
        _ id: RequestID?,
        _ state: RequestState,
        detail: String? = nil,
        isErased: Bool = false
    ) throws -> MirrorRow {
        guard case .spool(let row) = submission.origin else {
            throw StorageError(.sqlite, "mirror", at: "test")
        }
        return MirrorRow(
            spoolID: row.spoolID,
            spoolRow: row.rowID,
            requestID: id,
            state: state,
            detail: detail,
            updatedAt: StateFixture.start,
            isErased: isErased,
            revision: 1,
            fingerprint: row.fingerprint
        )
    }

    private func opened(_ spool: SpoolFixture) throws -> SpoolDatabase {
        let database = spool.database()
        try #require(try database.open().value() == ())
        return database
    }

    @Test("a settled credential loses its secrets, in the file's bytes, too")
    func scrubbing() async throws {
        let spool = try SpoolFixture()
        for index in 0..<20 {
            try spool.store(
                "u\(index)",
                secret: "SECRET-\(index)-" + String(repeating: "x", count: 6000)
            )
        }
        let database = try opened(spool)
        let read = try await database.read(.tail).value().batch.credentials
        let rows = read.compactMap(\.spoolRow)
        let settlements = rows.enumerated().map { index, row in
            CredentialSettlement(
                row: row,
                rejection: index == 3 ? .unknownClientID : nil
            )
        }
        #expect(try spool.bytes().contains(Data("SECRET-3-".utf8)))
        #expect(try await database.settle(settlements).value() == 0)
        #expect(
            try spool.int(
                """
                SELECT count(*) FROM credentials WHERE secret IS NULL AND code_verifier IS NULL
                  AND raw_nonce IS NULL AND state = 'sealed' AND detail IS NULL
                """
            ) == 19
        )
        #expect(
            try spool.text("SELECT state || ':' || detail FROM credentials WHERE id = 4")
                == "rejected:unknown_client_id"
        )
        let bytes = try spool.bytes()
        #expect(!bytes.contains(Data("SECRET-".utf8)))
        #expect(!bytes.contains(Data("verifier-".utf8)))
        #expect(!bytes.contains(Data("nonce-".utf8)))
    }

    @Test("a credential that changed since it was read keeps its new secret and comes again")
    func changedCredential() async throws {
        let spool = try SpoolFixture()
        try spool.store("u", secret: "old")
        let database = try opened(spool)
        let credentials = try await database.read(.tail).value().batch.credentials
        let row = try #require(credentials.first?.spoolRow)
        try spool.execute("UPDATE credentials SET secret = 'new'")
        let settlement = CredentialSettlement(row: row, rejection: nil)
        #expect(try await database.settle([settlement]).value() == 1)
        #expect(try spool.text("SELECT secret || state FROM credentials") == "newsubmitted")
    }

    @Test("states are shown, and only the last one counts")
    func states() async throws {
        let spool = try SpoolFixture()
        try spool.submit("u1")
        try spool.submit("u2")
        let database = try opened(spool)
        let requests = try await database.read(.tail).value().batch.requests
        let id = RequestID(StateFixture.newID())
        var rows = [
            try mirrorRow(requests[0], id, .accepted),
            try mirrorRow(requests[1], nil, .rejected, detail: "already_open"),
        ]
        var commit = try await database.mirror(rows[...]).value()
        #expect(commit.handledCount == 2 && commit.writtenCount == 2)
        #expect(try spool.text("SELECT state || request_id FROM requests") == "accepted\(id)")
        #expect(
            try spool.text("SELECT state || detail FROM requests WHERE id = 2")
                == "rejectedalready_open"
        )
        #expect(
            try spool.text("SELECT updated_at FROM requests") == StateFixture.start.rfc3339
        )
        rows[0] = try mirrorRow(requests[0], id, .parked, detail: "on_hold")
        commit = try await database.mirror(rows[...]).value()
        #expect(try spool.text("SELECT state || detail FROM requests") == "parkedon_hold")
        #expect(try await database.read(.tail).value().isEmpty, "our own commits are no news")
    }

    @Test("a completed deletion keeps only its state")
    func erasure() async throws {
        let spool = try SpoolFixture()
        try spool.submit("erase-me@example.com", options: #"{"reason":"left"}"#, key: "key-of-user")
        let database = try opened(spool)
        let request = try #require(try await database.read(.tail).value().batch.requests.first)
        let id = RequestID(StateFixture.newID())
        let rows = [try mirrorRow(request, id, .completed, isErased: true)]
        #expect(try await database.mirror(rows[...]).value().writtenCount == 1)
        #expect(try spool.text("SELECT user_id || options FROM requests") == "erased:\(id){}")
        #expect(try spool.int("SELECT idempotency_key IS NULL FROM requests") == 1)
        let bytes = try spool.bytes()
        #expect(!bytes.contains(Data("erase-me".utf8)))
        #expect(!bytes.contains(Data("key-of-user".utf8)))
        // The key is free for another user of the application.
        try spool.submit("other", key: "key-of-user")
    }

    @Test("a row that is another one by now is never written: it may be a request nobody has read")
    func strangers() async throws {
        let spool = try SpoolFixture()
        try spool.submit("u1")
        try spool.submit("u2")
        let database = try opened(spool)
        let requests = try await database.read(.tail).value().batch.requests
        try spool.execute(
            """
            DELETE FROM requests;
            INSERT INTO requests (id, kind, user_id) VALUES (1, 'delete_account', 'somebody-new')
            """
        )
        let rows = try requests.map {
            try mirrorRow($0, RequestID(StateFixture.newID()), .completed, isErased: true)
        }
        let commit = try await database.mirror(rows[...]).value()
        #expect(commit.handledCount == 2 && commit.writtenCount == 0 && commit.strangerCount == 1)
        #expect(try spool.text("SELECT user_id || state FROM requests") == "somebody-newsubmitted")
    }

    @Test("rows of another spool are passed over")
    func otherSpool() async throws {
        let spool = try SpoolFixture()
        try spool.submit("u1")
        let database = try opened(spool)
        let request = try #require(try await database.read(.tail).value().batch.requests.first)
        try spool.execute("UPDATE spool_meta SET spool_id = 'another'")
        let rows = [try mirrorRow(request, RequestID(StateFixture.newID()), .accepted)]
        let commit = try await database.mirror(rows[...]).value()
        #expect(commit.handledCount == 1 && commit.writtenCount == 0)
    }

    @Test("a writer of the application makes us busy, not wrong")
    func busy() async throws {
        let spool = try SpoolFixture()
        try spool.store("u", secret: "s")
        let database = try opened(spool)
        let credentials = try await database.read(.tail).value().batch.credentials
        let row = try #require(credentials.first?.spoolRow)
        try spool.execute("BEGIN IMMEDIATE")
        guard case .busy = await database.settle([CredentialSettlement(row: row, rejection: nil)])
        else {
            Issue.record("wrote beside another writer")
            return
        }
        #expect(try await database.read(.tail).value().isEmpty, "reading beside a writer works")
        try spool.execute("ROLLBACK")
        #expect(
            try await database.settle([CredentialSettlement(row: row, rejection: nil)]).value() == 0
        )
    }

    @Test("the mirror builds for what a slow sync leaves of its time, and never less than a little")
    func pace() {
        var pace = SpoolPace()
        var commit = SpoolDatabase.MirrorCommit()
        func note(endedAt: Duration) {
            commit.endedAt = endedAt
            pace.note(commit)
        }
        #expect(pace.wait(at: .seconds(1)) == .zero)
        (commit.beganAt, commit.builtAt) = (.seconds(1), .seconds(1))
        note(endedAt: .seconds(2))
        #expect(pace.wait(at: .seconds(2)) == .zero, "nothing was written")
        commit.writtenCount = 1
        (commit.beganAt, commit.builtAt) = (.milliseconds(1995), .seconds(2))
        note(endedAt: .milliseconds(2008))
        #expect(pace.rowCount == SpoolLimits.mirrorRowsMax, "there was time for all")
        #expect(pace.buildTime == .milliseconds(17), "17 ms and 8 ms are the 25 ms of a commit")
        #expect(pace.wait(at: .milliseconds(2008)) == .milliseconds(487))
        note(endedAt: .milliseconds(2003))
        #expect(pace.buildTime == SpoolLimits.mirrorBuildMax)
        note(endedAt: .seconds(3))
        #expect(pace.buildTime == SpoolLimits.mirrorBuildMin)
        commit.isCut = true
        note(endedAt: .seconds(3))
        #expect(pace.rowCount == SpoolLimits.mirrorRowsMin)
        commit.handledCount = 1000
        note(endedAt: .seconds(3))
        #expect(pace.rowCount == 1250, "a quarter more than there was time for")
    }

    @Test("two commits a second need not wait once nothing changes, and never a fifth in all")
    func spareCommits() {
        var pace = SpoolPace()
        func commit(at time: Duration) {
            var commit = SpoolDatabase.MirrorCommit()
            commit.writtenCount = 1
            (commit.beganAt, commit.builtAt, commit.endedAt) = (time, time, time)
            pace.note(commit)
        }
        commit(at: .milliseconds(5000))
        commit(at: .milliseconds(5500))
        #expect(pace.wait(at: .milliseconds(5510)) == .milliseconds(490), "while states change")
        #expect(pace.waitWhenQuiet(at: .milliseconds(5510)) == .zero)
        commit(at: .milliseconds(5510))
        #expect(pace.waitWhenQuiet(at: .milliseconds(5530)) == .zero, "the first was cut")
        commit(at: .milliseconds(5530))
        #expect(pace.waitWhenQuiet(at: .milliseconds(5540)) == .milliseconds(460), "four by now")
        #expect(pace.wait(at: .milliseconds(5540)) == .milliseconds(490))
        commit(at: .milliseconds(6030))
        #expect(pace.waitWhenQuiet(at: .milliseconds(6030)) == .milliseconds(470))
        #expect(pace.wait(at: .milliseconds(6030)) == .milliseconds(500))
    }

    @Test("nothing changes any more when nothing did for a while")
    func quiet() {
        var pace = SpoolPace()
        let (start, quiet) = (Duration.seconds(9), SpoolLimits.mirrorQuiet)
        #expect(pace.restOfQuiet(signalCount: 0, isIdle: true, at: start) == quiet)
        let half = start + quiet / 2
        #expect(pace.restOfQuiet(signalCount: 1, isIdle: true, at: half) == quiet, "a change")
        #expect(pace.restOfQuiet(signalCount: 1, isIdle: true, at: start + quiet) == quiet / 2)
        let end = half + quiet
        #expect(pace.restOfQuiet(signalCount: 1, isIdle: false, at: end) == quiet, "one under way")
        #expect(pace.restOfQuiet(signalCount: 1, isIdle: true, at: end + quiet) == .zero)
        #expect(pace.restOfQuiet(signalCount: 1, isIdle: true, at: end + quiet * 9) == .zero)
    }

    @Test("the end of a lock is noticed within an eighth of the time for which it was held")
    func pauses() {
        for held in 1...400 {
            var pause = SpoolPause.lock
            while pause.total < .milliseconds(held) { _ = pause.take() }
            let late = pause.total - .milliseconds(held)
            let allowed = SpoolLimits.busyPauseMin + .milliseconds(held) / 8
            #expect(late <= allowed, "held for \(held) ms, noticed \(late) later")
        }
    }

    @Test("a lock that is held for long is tried for ever more rarely")
    func pausesGrow() {
        var pause = SpoolPause.lock
        var tries = 0
        #expect(pause.take() == SpoolLimits.busyPauseMin)
        while pause.total < SpoolLimits.lockedAfter {
            tries += 1
            #expect(pause.take() <= SpoolLimits.busyPauseMax)
        }
        #expect(pause.take() == SpoolLimits.busyPauseMax)
        #expect(tries < 150, "of a lock held for five seconds")
    }
}
