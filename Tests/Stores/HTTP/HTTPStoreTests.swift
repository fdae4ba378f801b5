import Encoding
import Engine
import Lifecycle
import Testing

@testable import Stores

@Suite("An HTTP API that the configuration describes", .serialized)
struct HTTPStoreTests {
    private static let shared = Result { try HTTPServer() }
    private let server: HTTPServer

    init() throws {
        server = try Self.shared.get()
        try server.reset("example")
    }

    static let auth = """
        key_credential = "key"
        [store.auth]
        scheme = "bearer"

        """
    static let verify = """
        [[store.verify]]
        name = "left"
        method = "POST"
        path = "/count"
        json = { term = { owner = "{user_id}" } }
        count = "/count"

        """
    static let find = """
        [[store.erase]]
        name = "documents"
        method = "GET"
        path = "/documents"
        query = { owner = "{user_id}", after = "{cursor}" }
        items = "/data"
        id = "/id"
        match = { "/owner" = "{user_id}" }
        next = "/next"
        more = "/more"
        [[store.erase]]
        name = "document"
        method = "DELETE"
        path = "/documents/{id}"
        for_each = "documents"
        gone = [404]
        gone_if = { "/code" = "absent" }

        """
    static let whole = """
        [[store.erase]]
        name = "user"
        method = "DELETE"
        path = "/users/{user_id}"
        count = "/deleted"
        gone = [404]
        gone_if = { "/code" = "absent" }

        """

    private func counts(_ entries: [(String, Int)]) -> PurgeCounts {
        PurgeCounts(
            entries: entries.map {
                PurgeCounts.Entry(name: $0.0, action: .rule(.delete), rowCount: $0.1)
            }
        )
    }

    /// Purges until it is done, as the service does.
    private func finish(_ store: HTTPStore, _ order: PurgeOrder) async -> PurgeAnswer {
        for _ in 0..<8 {
            let answer = await store.purge([order])[0]
            if case .failure = answer { continue }
            return answer
        }
        return .stopped
    }

    @Test(
        "every way to say it erases one user and nobody else",
        arguments: [
            (find, "document", 7), (whole, "user", 7),
            (
                """
                [[store.erase]]
                name = "query"
                method = "POST"
                path = "/delete_by_query"
                json = { term = { owner = "{user_id}" } }
                effect = "repeatable"
                count = "/deleted"

                """, "query", 7
            ),
            (
                """
                [[store.erase]]
                name = "form"
                method = "POST"
                path = "/form"
                form = { owner = "{user_id}" }
                effect = "repeatable"
                count = "/deleted"

                """, "form", 7
            ),
            (
                find.replacing("\"/documents\"\n", with: "\"/linked\"\n")
                    .replacing(", after = \"{cursor}\"", with: "")
                    .replacing("match = { \"/owner\" = \"{user_id}\" }\n", with: "")
                    .replacing(
                        "next = \"/next\"\nmore = \"/more\"",
                        with: "next = \"link-header\""
                    ),
                "document", 7
            ),
            (
                find.replacing("path = \"/documents\"", with: "path = \"/numbered/{page}\"")
                    .replacing(", after = \"{cursor}\"", with: "")
                    .replacing("match = { \"/owner\" = \"{user_id}\" }\n", with: "")
                    .replacing("next = \"/next\"\nmore = \"/more\"\n", with: ""),
                "document", 7
            ),
            (
                find.replacing(", after = \"{cursor}\"", with: "")
                    .replacing("\"/next\"", with: "\"/next_url\""),
                "document", 7
            ),
        ]
    )
    func erases(steps: String, name: String, count: Int) async throws {
        let order = try GoogleBench.order("ann")
        let before = try server.state("example")
        #expect(before.left == 7)
        try await server.with(Self.auth + steps + Self.verify) { store in
            #expect(await store.diagnose() == [])
            #expect(await store.verify([order]) == [.remaining(7)])
            let item = PlanItem(name: "left", action: .delete, count: 7, hasNoTimestamps: true)
            #expect(await store.plan(order) == .items([item]))
            #expect(await store.purge([order]) == [.done(counts([(name, count)]))])
            #expect(await store.verify([order]) == [.clean])
            #expect(await store.purge([order]) == [.done(counts([(name, 0)]))])
        }
        let after = try server.state("example")
        #expect(after.left == 0 && after.others == before.others)
    }

    @Test("a list of users comes page by page")
    func lists() async throws {
        let list = """
            [[store.users]]
            name = "users"
            method = "GET"
            path = "/users"
            query = { after = "{cursor}" }
            items = "/data"
            id = "/id"
            next = "/next"
            """
        try await server.with(Self.auth + Self.whole + Self.verify + list) { store in
            guard case .found(let users) = await store.users(where: { _ in true }) else {
                Issue.record("not listed")
                return
            }
            let names = users.map { $0.exposeText() }.sorted()
            #expect(names == ["ANN-other", "ann", "ann2", "bob", "xann"])
        }
        try await server.with(Self.auth + Self.whole + Self.verify) { store in
            guard case .unknown = await store.users(where: { _ in true }) else {
                Issue.record("listed")
                return
            }
        }
    }

    private static let job = """
        [[store.erase]]
        name = "open"
        method = "GET"
        path = "/jobs"
        items = "/jobs"
        id = "/id"
        match = { "/user" = "{user_id}" }
        [[store.erase]]
        name = "job"
        method = "POST"
        path = "/jobs"
        json = { user = "{user_id}" }
        id = "/job"
        effect = "once"
        unless = "open"
        [[store.erase]]
        name = "end"
        method = "GET"
        path = "/jobs/{id}"
        for_each = "job"
        until = { "/status" = "done" }
        fails = { "/status" = "failed" }
        count = "/deleted"
        every = "2s"

        """

    @Test("a job is started once, asked for until it is over, and found again after a restart")
    func jobs() async throws {
        let order = try GoogleBench.order("ann")
        let wait = PurgeAnswer.failure(.throttled(retryAfter: .seconds(2)))
        try await server.with(Self.auth + Self.job + Self.verify) { store in
            #expect(await store.purge([order]) == [wait])
        }
        // Another process knows nothing of it.
        try await server.with(Self.auth + Self.job + Self.verify) { store in
            #expect(await store.purge([order]) == [wait])
            #expect(await store.purge([order]) == [.done(counts([("end", 7)]))])
            #expect(await store.verify([order]) == [.clean])
        }
        let calls = try server.state("example").calls
        #expect(calls.filter { $0.hasPrefix("POST /jobs") }.count == 1)
    }

    @Test("an idempotency key is the same for every try of one request, also after a restart")
    func idempotency() async throws {
        let order = try GoogleBench.order("ann")
        let once = """
            [[store.erase]]
            name = "user"
            method = "POST"
            path = "/erasures/{user_id}"
            effect = "repeatable"
            headers = { Idempotency-Key = "{request_id}" }
            count = "/deleted"

            """
        try await server.with(Self.auth + once + Self.verify) { store in
            guard case .failure = await store.purge([order])[0] else {
                Issue.record("it did not fail")
                return
            }
        }
        try await server.with(Self.auth + once + Self.verify) { store in
            #expect(await store.purge([order]) == [.done(counts([("user", 7)]))])
            #expect(await store.verify([order]) == [.clean])
        }
        let calls = try server.state("example").calls
        #expect(calls.count { $0.hasPrefix("POST /erasures") } == 2)
    }

    @Test("a job that the server has forgotten is started anew, and stops nobody else")
    func lostJobs() async throws {
        let (ann, bob) = (try GoogleBench.order("ann"), try GoogleBench.order("bob"))
        try await server.with(Self.auth + Self.job + Self.verify) { store in
            let wait = PurgeAnswer.failure(.throttled(retryAfter: .seconds(2)))
            #expect(await store.purge([ann]) == [wait])
            try server.fail("example", at: 1, "404")
            #expect(await store.purge([ann]) == [.failure(.unusable)])
            guard case .done = await finish(store, bob) else {
                Issue.record("the other user waits")
                return
            }
            #expect(await finish(store, ann) == .done(counts([("end", 7)])))
            #expect(await store.verify([ann]) == [.clean])
        }
    }

    @Test("what a vendor only promises is accepted until its time, and counted afterwards")
    func promises() async throws {
        var order = try GoogleBench.order("ann")
        let promise = """
            [[store.erase]]
            name = "request"
            method = "POST"
            path = "/jobs"
            json = { user = "{user_id}" }
            effect = "repeatable"
            promised = "30d"

            """
        let until = HTTPServer.now + .seconds(30 * 86_400)
        try await server.with(Self.auth + promise + Self.verify) { store in
            guard case .done(let counts) = await store.purge([order])[0] else {
                Issue.record("not done")
                return
            }
            #expect(counts.isAccepted && counts.acceptedUntil == until)
            #expect(counts.workedCount == 0)
            #expect(await store.verify([order]) == [.remaining(7)])
            order.erasedAt = HTTPServer.now
            #expect(await store.verify([order]) == [.notLookedFor])
        }
        try await server.with(Self.auth + promise + Self.verify, now: until) { store in
            #expect(await store.verify([order]) == [.remaining(7)])
        }
        try await server.with(Self.auth + promise) { store in
            #expect(await store.verify([order]) == [.notLookedFor])
            #expect(await store.plan(order) == .unknown)
            #expect(await store.inspect(withOutages: true).advice.count == 1)
        }
    }

    @Test("steps that do not ask for one user are found before they erase everybody")
    func unfiltered() async throws {
        let wrong = Self.find.replacing("owner = \"{user_id}\", ", with: "")
            .replacing("match = { \"/owner\" = \"{user_id}\" }\n", with: "")
            .replacing("query = {", with: "query = { who = \"{user_id}\",")
        try await server.with(Self.auth + wrong + Self.verify) { store in
            let problems = await store.startupProblems()
            #expect(problems.count == 1)
            #expect(problems.first?.contains("of a user who does not exist") == true)
        }
        // The server was away when the store was checked.
        let before = try server.state("example")
        try await server.with(Self.auth + wrong + Self.verify) { store in
            let order = try GoogleBench.order("ann")
            #expect(await store.purge([order]) == [.failure(.misconfigured)])
        }
        let after = try server.state("example")
        #expect(after.left == before.left && after.others == before.others)
    }

    @Test(
        "an answer that says nothing erases nothing",
        arguments: [
            ("500", EffectFailure.unusable), ("502", .unusable), ("400", .unusable),
            ("409", .unusable), ("429", .throttled(retryAfter: .seconds(2))),
            ("503", .throttled(retryAfter: .seconds(2))), ("401", .misconfigured),
            ("403", .misconfigured), ("redirect", .misconfigured), ("html", .unusable),
            ("twice", .unusable), ("big", .unusable), ("cut", .lost),
        ]
    )
    func faults(kind: String, failure: EffectFailure) async throws {
        let orders = [try GoogleBench.order("ann"), try GoogleBench.order("bob")]
        let before = try server.state("example")
        try server.fail("example", at: 0, kind)
        try await server.with(Self.auth + Self.find + Self.verify) { store in
            for answer in await store.purge(orders) { #expect(answer == .failure(failure)) }
            #expect(await store.verify([orders[0]]) == [.failure(failure)])
            #expect(!(await store.diagnose()).isEmpty)
            let isWrong = failure == .misconfigured
            #expect((await store.startupProblems()).isEmpty != isWrong)
        }
        let after = try server.state("example")
        #expect(after.left == 7 && after.others == before.others)
    }

    @Test("any call may fail or lose its answer, and the next try finishes")
    func everyCallFails() async throws {
        let order = try GoogleBench.order("ann")
        for steps in [Self.find, Self.job] {
            for kind in ["cut", "lost"] {
                for number in 1...5 {
                    let others = try server.reset("example").others
                    try server.fail("example", at: number, kind)
                    try await server.with(Self.auth + steps + Self.verify) { store in
                        guard case .done = await finish(store, order) else {
                            Issue.record("\(kind) at \(number): not done")
                            return
                        }
                        while await store.verify([order]) != [.clean] {}
                    }
                    let after = try server.state("example")
                    #expect(after.left == 0, "\(kind) at \(number)")
                    #expect(after.others == others, "\(kind) at \(number)")
                    let started = after.calls.count { $0.hasPrefix("POST /jobs") }
                    #expect(started <= 2, "\(kind) at \(number)")
                }
            }
        }
    }

    @Test("a link to another host, or out of the base URL, is not followed")
    func links() async throws {
        let order = try GoogleBench.order("ann")
        let steps = Self.find.replacing("\"/documents\"\nquery", with: "\"/elsewhere\"\nquery")
            .replacing(", after = \"{cursor}\"", with: "").replacing("more = \"/more\"\n", with: "")
            .replacing("match = { \"/owner\" = \"{user_id}\" }\n", with: "")
        try await server.with(Self.auth + steps + Self.verify) { store in
            #expect(await store.purge([order]) == [.failure(.unusable)])
        }
        #expect(try server.state("example").left == 7)
    }

    @Test(
        "an id that could change a call around it is refused, and any other is data",
        arguments: [
            ("ann/../bob", false), ("..", false), (".", false), ("%2e%2e", false), ("a/b", false),
            ("a\\b", false), ("bob?x=", false), ("bob#x", false), ("bob;x", false),
            ("\u{ff0f}bob", false), ("bob\u{200d}", false), ("\u{2025}", false), ("b ob", false),
            ("a\u{202e}b", false), ("ann@example.org", true), ("auth0|ann", true),
            ("jürgen", true), ("名前", true), ("a+b", true), ("a&owner=bob", true), ("\"bob", true),
            ("a=b", true), ("{user_id}", true), ("ann.", true), ("...", true),
        ]
    )
    func ids(id: String, isFit: Bool) async throws {
        let before = try server.reset("example", user: id)
        let order = try GoogleBench.order(id)
        try await server.with(Self.auth + Self.whole + Self.verify) { store in
            let answer = await store.purge([order])[0]
            #expect(answer == (isFit ? .done(counts([("user", 7)])) : .failure(.unusable)))
        }
        let after = try server.state("example")
        #expect(after.left == (isFit ? 0 : 7) && after.others == before.others)
    }

    @Test("in JSON and forms every id is data")
    func idsInBodies() async throws {
        let query = """
            [[store.erase]]
            name = "query"
            method = "POST"
            path = "/delete_by_query"
            json = { term = { owner = "{user_id}" } }
            effect = "repeatable"
            count = "/deleted"

            """
        let form = query.replacing(
            "json = { term = { owner = \"{user_id}\" } }",
            with: "form = { owner = \"{user_id}\" }"
        )
        .replacing("/delete_by_query", with: "/form")
        for steps in [query, form] {
            for id in [
                "a/b", "..", "\"}", "a&owner=bob", "\\", "%00", "\u{202e}x", "a\u{301}", "é",
            ] {
                let before = try server.reset("example", user: id)
                let order = try GoogleBench.order(id)
                try await server.with(Self.auth + steps + Self.verify) { store in
                    #expect(await store.purge([order])[0] != .failure(.unusable), "\(id)")
                    #expect(await store.verify([order]) == [.clean], "\(id)")
                }
                let after = try server.state("example")
                #expect(after.left == 0 && after.others == before.others, "\(id)")
            }
        }
    }

    @Test("a wrong secret, a wrong path and a private address stop the store")
    func setup() async throws {
        let order = try GoogleBench.order("ann")
        let text = Self.auth + Self.whole + Self.verify
        try await server.with(text, secret: "other") { store in
            #expect(await store.purge([order]) == [.failure(.misconfigured)])
            #expect(await store.startupProblems() == ["step 'left': the server answered 401"])
        }
        try await server.with(text.replacing("/users/", with: "/user/")) { store in
            #expect(await store.purge([order]) == [.failure(.misconfigured)])
        }
        #expect(try server.state("example").left == 7)
    }
}
