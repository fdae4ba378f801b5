import Encoding
import Engine
import HTTP
import Lifecycle
import Testing

@testable import Stores

@Suite("A service of the operator's own")
struct WebhookStoreTests {
    private let server: WebhookServer

    init() throws { server = try WebhookServer() }

    private func rows(_ user: String) throws -> Double? {
        try server.state()["rows"]?[user]?.number
    }

    @Test("a signed question brings counts, and nothing of another user is touched")
    func purges() async throws {
        let order = try FilesFixture.order("ann")
        try await server.with { store in
            #expect(await store.diagnose() == [])
            #expect(await store.verify([order]) == [.remaining(5)])
            let items = [PlanItem(name: "rows", action: .delete, count: 5)]
            #expect(await store.plan(order) == .items(items))
            let until = WallTime(rfc3339: "2027-01-01T00:00:00Z")
            let counts = PurgeCounts(
                entries: [PurgeCounts.Entry(name: "rows", action: .rule(.delete), rowCount: 5)],
                residualCopies: [
                    PurgeCounts.ResidualCopies(text: "backups of the CRM", until: until)
                ]
            )
            #expect(await store.purge([order]) == [.done(counts)])
            #expect(await store.verify([order]) == [.clean])
        }
        #expect(try rows("ann") == 0)
        #expect(try rows("bob") == 7)
    }

    @Test("a purge that breaks off is asked for again under the same key, and finished")
    func cut() async throws {
        let order = try FilesFixture.order("ann")
        try await server.with("cut") { store in
            #expect(await store.purge([order]) == [.failure(.lost)])
            #expect(await store.verify([order]) == [.remaining(3)])
            guard case .done(let counts) = await store.purge([order])[0] else {
                Issue.record("not done")
                return
            }
            #expect(counts.entries.map(\.rowCount) == [5])
            #expect(await store.verify([order]) == [.clean])
        }
        let seen = try #require(try server.state()["seen"]?.array)
        let purges = seen.compactMap { $0["id"]?.string }.filter { $0.hasSuffix(".purge") }
        #expect(purges.count == 2 && Set(purges) == ["\(order.request).crm.purge"])
        #expect(try rows("bob") == 7)
    }

    @Test("a service tells its users, a page per call, each call under a key of its own")
    func users() async throws {
        try await server.with { store in
            for _ in 0..<2 {
                guard case .found(let users) = await store.users(where: { _ in true }) else {
                    Issue.record("not listed")
                    return
                }
                #expect(users.map { $0.exposeText() }.sorted() == ["ann", "bob"])
            }
        }
        let seen = try #require(try server.state()["seen"]?.array)
        let keys = seen.compactMap { $0["id"]?.string }
        #expect(keys.count == 4 && Set(keys).count == 4)
        #expect(keys.allSatisfy { $0.hasPrefix("expunged.crm.users.") })
        #expect(seen.allSatisfy { $0["signed"]?.bool == true })
        #expect(try rows("ann") == 5)
    }

    @Test(
        "an answer that says nothing erases nothing",
        arguments: [
            ("html", EffectFailure.unusable), ("truncated", .lost), ("unfinished", .unusable),
            ("big", .unusable), ("throttled", .throttled(retryAfter: .seconds(90))),
            ("redirect", .misconfigured), ("silent", .lost),
        ]
    )
    func faults(path: String, failure: EffectFailure) async throws {
        let order = try FilesFixture.order("ann")
        // The silent one answers when the other side has given up.
        let timeout = Duration.seconds(path == "silent" ? 2 : 120)
        try await server.with(path, timeout: timeout) { store in
            let purged = await Self.sent(before: PurgeAnswer.failure(.unreachable)) {
                await store.purge([order])[0]
            }
            #expect(purged == .failure(failure))
            let verified = await Self.sent(before: VerifyAnswer.failure(.unreachable)) {
                await store.verify([order])[0]
            }
            #expect(verified == .failure(failure))
            #expect(await store.diagnose().count == 1)
            #expect(await store.startupProblems().count == (failure == .misconfigured ? 1 : 0))
        }
        #expect(try rows("ann") == 5)
    }

    /// Asks again while a machine that is held up ends a call before it was sent.
    private static func sent<Answer: Equatable>(
        before early: Answer,
        _ ask: () async -> Answer
    ) async -> Answer {
        var answer = early
        for _ in 0..<100 where answer == early { answer = await ask() }
        return answer
    }

    @Test("a wrong key, a private address without leave and an unknown certificate stop at once")
    func refusals() async throws {
        let order = try FilesFixture.order("ann")
        let other = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="
        try await server.with(secret: other) { store in
            #expect(await store.purge([order]) == [.failure(.misconfigured)])
        }
        let seenCount = try server.state()["seen"]?.array?.count
        try await server.with(allowsPrivate: false) { store in
            #expect(await store.purge([order]) == [.failure(.misconfigured)])
            #expect(
                await store.startupProblems().first?.contains("allow_private_addresses") == true
            )
        }
        try await server.with(trusts: false) { store in
            #expect(await store.purge([order]) == [.failure(.unreachable)])
            #expect(await store.startupProblems() == [])
        }
        #expect(try server.state()["seen"]?.array?.count == seenCount)
        #expect(try rows("ann") == 5)
    }

    @Test("once the service asks for a pause the rest of a call is not asked")
    func pause() async throws {
        let orders = try (0..<100).map { try FilesFixture.order("user\($0)") }
        try await server.with("throttled") { store in
            let answers = await store.purge(orders)
            let pause = PurgeAnswer.failure(.throttled(retryAfter: .seconds(90)))
            #expect(answers == orders.map { _ in pause })
        }
        #expect(try (1...16).contains(server.state()["seen"]?.array?.count ?? 0))
    }

    @Test("a key is 24 to 64 bytes of base64")
    func keys() {
        #expect(WebhookSignature(Secret("whsec_" + WebhookServer.secret + "\n")) != nil)
        for text in ["", "whsec_", "c2hvcnQ=", "not base64 at all, whatever it is!"] {
            #expect(WebhookSignature(Secret(text)) == nil)
        }
    }

    @Test("of a key of 32 bytes the padding counts, and the spare bits of its last digit do not")
    func keyForms() throws {
        let digits = String(repeating: "A", count: 42)
        for (end, isGood) in [("A=", true), ("B=", true), ("A", false), ("A==", false)] {
            #expect((WebhookSignature(Secret(digits + end)) != nil) == isGood, "\(end)")
        }
        let forms = try ["A=", "B="].map { end in
            try #require(WebhookSignature(Secret(digits + end)))
                .headers(id: "m", time: WallTime(unixMilliseconds: 0), body: [])[2].value
        }
        #expect(forms[0] == forms[1])
    }

    @Test("the signature is the one of the specification's libraries")
    func knownAnswer() throws {
        // The example of the Standard Webhooks reference libraries' own tests.
        let key = try #require(WebhookSignature(Secret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")))
        let headers = key.headers(
            id: "msg_p5jXN8AQM9LWM0D4loKWxJek",
            time: WallTime(unixMilliseconds: 1_614_265_330_000),
            body: Array(#"{"test": 2432232314}"#.utf8)
        )
        #expect(headers[2].value == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=")
    }
}
