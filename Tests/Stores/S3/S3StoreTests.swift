import Engine
import Lifecycle
import Synchronization
import Testing

@testable import Stores

@Suite("S3", .serialized)
struct S3StoreTests {
    @Test("versions, markers and unfinished uploads of one user go, nothing of another")
    func purges() async throws {
        let fixture = try S3Fixture()
        for user in ["1", "12", "é &<\"+ä"] {
            try fixture.put("users/\(user)/a/b.txt", "users/\(user)/a/b.txt", "pic/\(user).png")
            let path = S3Client.encodedPath("\(fixture.bucket)/users/\(user)/a/b.txt")
            try fixture.server.curl("DELETE", path)
            let upload = S3Client.encodedPath("\(fixture.bucket)/users/\(user)/big")
            try fixture.server.curl("POST", "\(upload)?uploads")
        }
        try fixture.put("users/1", "pic/1.png.bak")
        let store = try fixture.store(prefixes: ["users/{user_id}/"], keys: ["pic/{user_id}.png"])
        #expect(await store.diagnose() == [])
        let orders = try ["1", "é &<\"+ä", "nobody"].map { try FilesFixture.order($0) }
        #expect(await store.verify(orders) == [.remaining(5), .remaining(5), .clean])
        guard case .items(let items) = await store.plan(orders[0]) else {
            Issue.record("no plan")
            return
        }
        #expect(items.map(\.count) == [3, 1, 1, 0])
        let answers = await store.purge(orders)
        #expect(answers.map(\.rowCounts) == [[3, 1, 1, 0], [3, 1, 1, 0], [0, 0, 0, 0]])
        #expect(await store.verify(orders) == [.clean, .clean, .clean])
        #expect(
            try fixture.versions == [
                "pic/1.png.bak", "pic/12.png", "users/1", "users/12/a/b.txt", "users/12/a/b.txt",
                "users/12/a/b.txt",
            ]
        )
        let uploads = try fixture.server.curl("GET", "\(fixture.bucket)?uploads")
        #expect(uploads.contains("users/12/big") && !uploads.contains("users/1/big"))
        await store.shutdown()
    }

    @Test("a key with an empty name behind the user id stays, and plan and receipt name it")
    func emptyName() async throws {
        let fixture = try S3Fixture()
        try fixture.put("users/a/x", "users/a//b", "users/a/c//d")
        let store = try fixture.store(prefixes: ["users/{user_id}/"])
        let order = try FilesFixture.order("a")
        guard case .items(let items) = await store.plan(order) else {
            Issue.record("no plan")
            return
        }
        #expect(items.map(\.action) == [.delete, .delete, .keep])
        #expect(items.map(\.count) == [2, 0, 1])
        #expect(items.last?.reason?.hasPrefix("an empty name") == true)
        guard case .done(let counts) = await store.purge([order])[0] else {
            Issue.record("not done")
            return
        }
        #expect(counts.entries.map(\.rowCount) == [2, 0, 1] && counts.workedCount == 2)
        #expect(counts.entries[2].passedOver == .emptyName)
        #expect(try fixture.versions == ["users/a//b"])
        #expect(await store.verify([order]) == [.clean])
        await store.shutdown()
    }

    @Test("a bucket without versions")
    func withoutVersions() async throws {
        let fixture = try S3Fixture(versioned: false)
        try fixture.put("u/ann/x", "u/bob/x")
        let store = try fixture.store(prefixes: ["u/{user_id}/"])
        let order = try FilesFixture.order("ann")
        #expect(await store.purge([order])[0].rowCounts == [1, 0])
        #expect(try fixture.versions == ["u/bob/x"])
        await store.shutdown()
    }

    @Test("what is newer than the request stays and is reported")
    func cutoff() async throws {
        let fixture = try S3Fixture()
        try fixture.put("u/ann/x")
        let store = try fixture.store(prefixes: ["u/{user_id}/"])
        let order = try FilesFixture.order("ann", cutoff: FilesFixture.now() + .seconds(-3600))
        guard case .done(let counts) = await store.purge([order])[0] else {
            Issue.record("not done")
            return
        }
        #expect(counts.entries[0].rowCount == 0 && counts.entries[0].newerCount == 1)
        #expect(await store.verify([order]) == [.clean])
        #expect(try fixture.versions == ["u/ann/x"])
        // A service whose clock is behind that of the store.
        let late = try fixture.store(prefixes: ["u/{user_id}/"], behind: .seconds(1800))
        let ahead = EffectFailure.blocked(Obstacle(.future, at: "u/{user_id}/"))
        #expect(await late.verify([order]) == [.failure(ahead)])
        await late.shutdown()
        await store.shutdown()
    }

    @Test("what a lock protects lingers, the rest goes, and the purge ends")
    func locks() async throws {
        let fixture = try S3Fixture(isLocked: true)
        // The MD5 of the body, which object lock asks for.
        let digest = "Content-MD5: ndTkYSaMgDT1yFZOFVxnpg=="
        try fixture.put("u/ann/c", headers: ["x-amz-object-lock-legal-hold: ON", digest])
        try fixture.put("u/ann/d")
        let store = try fixture.store(prefixes: ["u/{user_id}/"])
        let order = try FilesFixture.order("ann")
        let answer = await store.purge([order])[0]
        await #expect(store.verify([order]) == [.clean])
        await store.shutdown()
        guard case .done(let counts) = answer else {
            Issue.record("\(answer)")
            return
        }
        #expect(counts.entries[0].rowCount == 1)
        let text = "object versions under legal hold lock in bucket '\(fixture.bucket)'"
        #expect(counts.residualCopies.map(\.text) == [text])
        #expect(counts.residualCopies.map(\.until) == [nil])
        #expect(try fixture.versions == ["u/ann/c"])
    }

    /// The server of the other tests does not answer questions about retention.
    @Test(
        "retention protects until its date",
        arguments: [("COMPLIANCE", "compliance"), ("GOVERNANCE", "governance")]
    )
    func retention(mode: String, kind: String) async throws {
        let fixture = try S3Fixture(versioned: false)
        let store = try fixture.store(prefixes: ["u/{user_id}/"])
        let text = """
            <Retention xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Mode>\(mode)</Mode>\
            <RetainUntilDate>2040-01-02T03:04:05.000Z</RetainUntilDate></Retention>
            """
        let answer = try #require(XMLElement(Array(text.utf8)))
        let until = try #require(WallTime(rfc3339: "2040-01-02T03:04:05Z"))
        let lock = try store.bucket.lock(answer, at: until + .seconds(-1))
        #expect(lock?.text == "object versions under \(kind) lock in bucket '\(fixture.bucket)'")
        #expect(lock?.until == until)
        #expect(try store.bucket.lock(answer, at: until) == nil)
        await store.shutdown()
    }

    @Test("a purge that breaks off after any page is taken up again, others' data unchanged")
    func cut() async throws {
        let fixture = try S3Fixture()
        for index in 0..<5 { try fixture.put("u/ann/\(index)", "u/bob/\(index)") }
        let order = try FilesFixture.order("ann")
        struct Stop: Error {}
        var cutCount = 0
        for step in 1...10 {
            let rests = Mutex(0)
            let store = try fixture.store(prefixes: ["u/{user_id}/"], pageSize: 1) { _ in
                let count = rests.withLock { count in
                    count += 1
                    return count
                }
                if count == step { throw Stop() }
            }
            let answer = await store.purge([order])[0]
            await store.shutdown()
            guard answer == .failure(.lost) else {
                #expect(answer.rowCounts != nil)
                break
            }
            cutCount += 1
        }
        #expect(cutCount > 1)
        let store = try fixture.store(prefixes: ["u/{user_id}/"])
        #expect(await store.verify([order]) == [.clean])
        #expect(try fixture.versions == (0..<5).map { "u/bob/\($0)" })
        await store.shutdown()
    }

    @Test("an id that holds the separator is left for an operator, and so is one too long")
    func oddIDs() async throws {
        let fixture = try S3Fixture()
        let keys = ["u/a/b/x", "u/a/\u{301}b/x"]
        for key in keys { try fixture.put(key) }
        let store = try fixture.store(prefixes: ["u/{user_id}/"])
        let answers = await store.purge([
            try FilesFixture.order("a/b"), try FilesFixture.order("a/\u{301}b"),
            try FilesFixture.order(".."),
        ])
        #expect(answers[0] == .failure(.unusable) && answers[1] == .failure(.unusable))
        #expect(answers[2].rowCounts == [0, 0])
        #expect(
            Set(try fixture.versions.map { Array($0.utf8) }) == Set(keys.map { Array($0.utf8) })
        )
        await store.shutdown()
    }

    @Test("a bucket that is not there, and a certificate of nobody, are told apart")
    func failures() async throws {
        let fixture = try S3Fixture()
        let order = try FilesFixture.order("ann")
        let missing = try fixture.store(prefixes: ["u/{user_id}/"], bucket: "no-such-bucket")
        #expect(await missing.purge([order]) == [.failure(.misconfigured)])
        #expect(await missing.startupProblems().count == 1)
        let unknown = try fixture.store(prefixes: ["u/{user_id}/"], trusts: false)
        #expect(await unknown.purge([order]) == [.failure(.unreachable)])
        #expect(await unknown.startupProblems() == [])
        #expect(await unknown.diagnose().count == 1)
        await missing.shutdown()
        await unknown.shutdown()
    }

    @Test("folders that no rule leads to are found")
    func coverage() async throws {
        let fixture = try S3Fixture()
        try fixture.put("app/u/ann/x", "app/exports/x", "app/x", "logs/x", "root")
        let store = try fixture.store(prefixes: ["app/u/{user_id}/"])
        guard case .findings(let findings) = await store.coverage() else {
            Issue.record("no findings")
            return
        }
        let names = findings.filter { !$0.isCovered }.map(\.name)
        #expect(names == ["*", "app/*", "app/exports/", "logs/"])
        await store.shutdown()
    }

    @Test(
        "what lies beside what rules take of a user is found, and not whose it is",
        arguments: [1, 1000]
    )
    func siblings(pageSize: Int) async throws {
        let fixture = try S3Fixture()
        try fixture.put(
            "u/canary-1/cache/x",
            "u/canary-1/exports/x",
            "u/canary-1/p.json",
            "u/canary-1/Divorce 2024/x",
            "u/canary-1/canary-3/x",
            "u/canary-2/exports/x",
            "u/canary-2/p.json",
            "u/canary-2/canary-3/x",
            "u/canary-3/cache/x",
            "u/index",
            "avatars/canary-1.png",
            "avatars/canary-1.webp",
            "avatars/canary-1-with-canary-3.jpg",
            "avatars/canary-2.png",
            "avatars/canary-2-with-canary-3.jpg",
            "avatars/canary-3.png"
        )
        let store = try fixture.store(
            prefixes: ["u/{user_id}/cache/"],
            keys: ["avatars/{user_id}.png"],
            pageSize: pageSize
        )
        guard case .findings(let findings) = await store.coverage() else {
            Issue.record("no findings")
            return
        }
        let names = findings.filter { !$0.isCovered }.map(\.name)
        #expect(
            names == [
                "avatars/{user_id}.webp", "avatars/*", "u/*", "u/{user_id}/exports/",
                "u/{user_id}/*/", "u/{user_id}/p.json",
            ]
        )
        await store.shutdown()
    }

    @Test("a folder above users with the id of one of them is counted")
    func foldersOfUsers() async throws {
        let fixture = try S3Fixture()
        try fixture.put("u-canary-1/x", "canary-1/x", "canary-2-old/x", "logs/x", "p/canary-2.png")
        let store = try fixture.store(prefixes: ["u-{user_id}/"], keys: ["p/{user_id}.png"])
        guard case .findings(let findings) = await store.coverage() else {
            Issue.record("no findings")
            return
        }
        let found = findings.filter { !$0.isCovered }.map { "\($0.name): \($0.reason)" }
        #expect(
            found == ["logs/: no rule leads there", "*/: 2 folders, no rule leads there"]
        )
        await store.shutdown()
    }
}

@Suite("Keys of S3 and its XML")
struct S3TextTests {
    @Test(
        "a prefix that could reach another user is refused",
        arguments: [
            "", "users/", "users/{user_id}", "{user_id}a/", "{user_id}/{user_id}/", "{user_id}é/",
        ]
    )
    func templates(text: String) {
        #expect(throws: MalformedTemplate.self) { try KeyTemplate(text, isPrefix: true) }
    }

    @Test(
        "XML that could mean two things is none",
        arguments: [
            "", "<a>", "<a></b>", "<a/><b/>", "<!DOCTYPE a><a/>", "<a>&x;</a>", "<a>&#xd800;</a>",
            "<a>&amp</a>", "x<a/>", String(repeating: "<a>", count: 20),
        ]
    )
    func malformed(text: String) {
        #expect(XMLElement(Array(text.utf8)) == nil)
    }

    @Test("text and entities of XML are read, and written back")
    func xml() throws {
        let text =
            "<?xml version=\"1.0\"?>\n<a x=\"1\"><b>1 &lt;&#38;&#x20AC;</b><c/><b>2</b></a>\n"
        let root = try #require(XMLElement(Array(text.utf8)))
        #expect(root.all("b").map(\.text) == ["1 <&€", "2"])
        #expect(root["c"]?.text == "" && root["d"] == nil)
        #expect(
            XMLElement(Array("<a>x&amp;\u{301}y&lt;\u{301}</a>".utf8))?.text == "x&\u{301}y<\u{301}"
        )
        #expect(S3Client.encodedPath("a/\u{301}b//c d") == "a/%CC%81b//c%20d")
        let odd = "a\u{1}&<>\"'\n"
        #expect(XMLElement(Array("<a>\(odd.escapedForXML)</a>".utf8))?.text == odd)
    }
}
