import Engine
import HTTP
import Lifecycle
import Sandbox
import Synchronization
import TestSupport
import Testing

@testable import Stores

@Suite("Firestore")
struct FirestoreStoreTests {
    static func store(
        _ bench: GoogleBench,
        documents: [String] = [],
        collections: [String] = [],
        groups: [String] = [],
        project: String = "example-project",
        subcollections: Bool = true,
        pageSize: Int = 300,
        rest: @escaping @Sendable (Duration) async throws -> Void = { _ in }
    ) throws -> FirestoreStore {
        let session = bench.session(rest)
        return FirestoreStore(
            name: StoreName("documents"),
            documents: try documents.map { try UserPath($0, in: .firestore) },
            queries: try collections.map { try FieldQuery($0, isGroup: false) }
                + groups.map { try FieldQuery($0, isGroup: true) },
            includesSubcollections: subcollections,
            session: session,
            database: try FirestoreDatabase(
                "(default)",
                of: project,
                at: bench.sandbox.baseURL + "/cloud/firestore",
                session,
                pageSize: pageSize
            ),
            batchSize: min(20, pageSize)
        )
    }

    @Test("a user's documents go with all below them, missing parents or not, and nobody else's")
    func purges() async throws {
        try await GoogleBench.with { bench in
            let ids = ["1", "12", "é &\"a:runQuery%2F"]
            for id in ids {
                for path in ["", "/a/x", "/a/gone/b/deep", "/a/gone/b/too/c/deeper"] {
                    bench.sandbox.add(CloudDocument("users/\(id)\(path)"))
                }
                // The document of the path itself is not there.
                bench.sandbox.add(CloudDocument("profiles/\(id)/private/x"))
            }
            let store = try Self.store(
                bench,
                documents: ["users/{user_id}", "profiles/{user_id}"]
            )
            #expect(await store.diagnose() == [])
            let orders = try ["1", ids[2], "nobody"].map { try GoogleBench.order($0) }
            #expect(await store.verify(orders) == [.remaining(5), .remaining(5), .clean])
            #expect(
                await store.plan(orders[0])
                    == .items([
                        PlanItem(name: "users/{user_id}", action: .delete, count: 4),
                        PlanItem(name: "profiles/{user_id}", action: .delete, count: 1),
                    ])
            )
            #expect(await store.purge(orders).map(\.rowCounts) == [[4, 1], [4, 1], [0, 0]])
            #expect(await store.verify(orders) == [.clean, .clean, .clean])
            #expect(
                bench.sandbox.documents == [
                    "profiles/12/private/x", "users/12", "users/12/a/gone/b/deep",
                    "users/12/a/gone/b/too/c/deeper", "users/12/a/x",
                ]
            )
        }
    }

    @Test("documents with the user id in a field are found, in one collection and in any")
    func queries() async throws {
        try await GoogleBench.with { bench in
            for (path, author) in [
                ("posts/p1", "ann"), ("posts/p1/likes/1", "bob"), ("posts/p2", "bob"),
                ("posts/p2/comments/1", "ann"), ("posts/p2/comments/2", "bob"),
                ("comments/1", "ann"), ("drafts/1/posts/1", "ann"),
            ] {
                bench.sandbox.add(CloudDocument(path, fields: ["author": author]))
            }
            let order = try GoogleBench.order("ann")
            let store = try Self.store(
                bench,
                collections: ["posts where author == {user_id}"],
                groups: ["comments where author == {user_id}"]
            )
            #expect(await store.diagnose() == [])
            #expect(await store.verify([order]) == [.remaining(3)])
            guard case .items(let items) = await store.plan(order) else {
                Issue.record("no plan")
                return
            }
            #expect(items.map(\.count) == [2, 2])
            #expect(await store.purge([order])[0].rowCounts == [2, 2])
            #expect(await store.verify([order]) == [.clean])
            #expect(
                bench.sandbox.documents == ["drafts/1/posts/1", "posts/p2", "posts/p2/comments/2"]
            )
        }
    }

    @Test("without subcollections a document that a query finds goes alone")
    func shallow() async throws {
        try await GoogleBench.with { bench in
            bench.sandbox.add(CloudDocument("posts/1", fields: ["author": "ann"]))
            bench.sandbox.add(CloudDocument("posts/1/comments/1", fields: ["author": "bob"]))
            let store = try Self.store(
                bench,
                collections: ["posts where author == {user_id}"],
                subcollections: false
            )
            let order = try GoogleBench.order("ann")
            #expect(await store.purge([order])[0].rowCounts == [1])
            #expect(bench.sandbox.documents == ["posts/1/comments/1"])
        }
    }

    @Test("what is newer than the request stays, is reported, and hides nothing behind it")
    func cutoff() async throws {
        try await GoogleBench.with { bench in
            let cutoff = GoogleBench.now + .seconds(-1)
            let later = cutoff.unixMilliseconds + 1
            for index in 0..<6 {
                bench.sandbox.add(
                    CloudDocument(
                        "users/ann/a/\(index)",
                        fields: ["author": "ann"],
                        createdAtMilliseconds: index.isMultiple(of: 2) ? later : 0
                    )
                )
            }
            bench.sandbox.add(CloudDocument("users/ann", createdAtMilliseconds: later))
            let store = try Self.store(
                bench,
                documents: ["users/{user_id}"],
                groups: ["a where author == {user_id}"],
                pageSize: 1
            )
            let order = try GoogleBench.order("ann", cutoff: cutoff)
            guard case .done(let counts) = await store.purge([order])[0] else {
                Issue.record("not done")
                return
            }
            #expect(counts.entries.map(\.rowCount) == [3, 0])
            #expect(counts.entries.map(\.newerCount) == [4, 3])
            #expect(await store.verify([order]) == [.clean])
            #expect(
                bench.sandbox.documents
                    == ["users/ann", "users/ann/a/0", "users/ann/a/2", "users/ann/a/4"]
            )
            let tomorrow = GoogleBench.now.unixMilliseconds + 86_400_000
            bench.sandbox.add(CloudDocument("users/ann/a/6", createdAtMilliseconds: tomorrow))
            let ahead = EffectFailure.blocked(Obstacle(.future, at: "users/{user_id}"))
            #expect(await store.verify([order]) == [.failure(ahead)])
        }
    }

    @Test("only the writes that failed are made again, and too many failures end the try")
    func failedWrites() async throws {
        try await GoogleBench.with { bench in
            for index in 0..<30 { bench.sandbox.add(CloudDocument("users/ann/a/\(index)")) }
            bench.sandbox.failWrites(30)
            let store = try Self.store(bench, documents: ["users/{user_id}"])
            let order = try GoogleBench.order("ann")
            #expect(await store.purge([order])[0].rowCounts == [30])
            for index in 0..<3 { bench.sandbox.add(CloudDocument("users/ann/a/\(index)")) }
            bench.sandbox.failWrites(1_000)
            #expect(await store.purge([order]) == [.failure(.throttled(retryAfter: nil))])
            bench.sandbox.failWrites(0)
            #expect(await store.purge([order]).map(\.rowCounts) == [[3]])
        }
    }

    @Test("a document that is made anew while the purge runs is not deleted unseen")
    func changes() async throws {
        try await GoogleBench.with { bench in
            bench.sandbox.add(CloudDocument("users/ann/a/1"))
            let later = GoogleBench.now.unixMilliseconds + 1
            // The only rest before the write is the ramp's.
            let store = try Self.store(bench, documents: ["users/{user_id}"]) { _ in
                bench.sandbox.add(CloudDocument("users/ann/a/1", createdAtMilliseconds: later))
            }
            let order = try GoogleBench.order("ann")
            guard case .done(let counts) = await store.purge([order])[0] else {
                Issue.record("not done")
                return
            }
            #expect(counts.entries.map(\.rowCount) == [0])
            #expect(counts.entries.map(\.newerCount) == [1])
            #expect(bench.sandbox.documents == ["users/ann/a/1"])
        }
    }

    @Test("a purge that breaks off after any step is taken up again, others' data unchanged")
    func cut() async throws {
        try await GoogleBench.with { bench in
            for user in ["ann", "bob"] {
                for index in 0..<4 {
                    bench.sandbox.add(CloudDocument("users/\(user)/a/\(index)"))
                    bench.sandbox.add(CloudDocument("p/\(user)\(index)", fields: ["by": user]))
                    bench.sandbox.add(CloudDocument("p/\(user)\(index)/below/missing/b/1"))
                }
                bench.sandbox.add(CloudDocument("users/\(user)"))
            }
            let others = bench.sandbox.documents.filter { $0.contains("bob") }
            let order = try GoogleBench.order("ann")
            let rules = (documents: ["users/{user_id}"], queries: ["p where by == {user_id}"])
            struct Stop: Error {}
            var cutCount = 0
            for step in 1...60 {
                let rests = Mutex(0)
                let store = try Self.store(
                    bench,
                    documents: rules.documents,
                    collections: rules.queries,
                    pageSize: 1
                ) { _ in
                    let count = rests.withLock { count in
                        count += 1
                        return count
                    }
                    if count == step { throw Stop() }
                }
                guard await store.purge([order])[0] == .failure(.lost) else { break }
                cutCount += 1
            }
            #expect((2..<60).contains(cutCount))
            let store = try Self.store(
                bench,
                documents: rules.documents,
                collections: rules.queries
            )
            #expect(await store.verify([order]) == [.clean])
            #expect(bench.sandbox.documents == others)
        }
    }

    @Test(
        "whatever fails on the way, trying again finishes",
        arguments: 1...6 as ClosedRange<UInt64>
    )
    func resumes(seed: UInt64) async throws {
        try await GoogleBench.with { bench in
            for user in ["ann", "bob"] {
                for index in 0..<3 { bench.sandbox.add(CloudDocument("users/\(user)/a/\(index)")) }
            }
            let store = try Self.store(bench, documents: ["users/{user_id}"], pageSize: 1)
            let order = try GoogleBench.order("ann")
            let kinds: [FaultKind] = [
                .reset, .unavailable, .serverError, .html, .truncated, .responseLost,
            ]
            bench.sandbox.inject(
                FaultPlan(rate: 0.2, kinds: kinds, endpoints: [.data], seed: seed)
            )
            var tries = 0
            while tries < 100 {
                tries += 1
                if case .done = await store.purge([order])[0] { break }
            }
            #expect(tries < 100)
            bench.sandbox.inject(.none)
            #expect(await store.verify([order]) == [.clean])
            #expect(bench.sandbox.documents == (0..<3).map { "users/bob/a/\($0)" })
        }
    }

    @Test("short pages lead on to the next one")
    func pages() async throws {
        try await GoogleBench.with {
            $0.cloud.pageMax = 2
        } _: { bench in
            for index in 0..<7 {
                bench.sandbox.add(CloudDocument("users/ann/c\(index)/x"))
                bench.sandbox.add(CloudDocument("users/ann/c0/d\(index)"))
            }
            let store = try Self.store(bench, documents: ["users/{user_id}"])
            #expect(await store.verify([try GoogleBench.order("ann")]) == [.remaining(14)])
        }
    }

    @Test(
        "an id that no document can have is left for an operator",
        arguments: ["a/b", ".", "..", "__x__", "ann/a/1"]
    )
    func oddIDs(id: String) async throws {
        try await GoogleBench.with { bench in
            bench.sandbox.add(CloudDocument("users/ann/a/1"))
            let store = try Self.store(bench, documents: ["users/{user_id}"])
            let orders = [try GoogleBench.order(id), try GoogleBench.order("bob")]
            let answers = await store.purge(orders)
            #expect(answers[0] == .failure(.unusable))
            #expect(answers[1].rowCounts == [0])
            #expect(bench.sandbox.documents == ["users/ann/a/1"])
        }
    }

    @Test("names that begin with a combining character are names as others")
    func combiningNames() async throws {
        try await GoogleBench.with { bench in
            for path in ["users/ann/notes/\u{301}x", "users/\u{301}zed", "users/bob"] {
                bench.sandbox.add(CloudDocument(path))
            }
            let store = try Self.store(bench, documents: ["users/{user_id}"])
            guard case .found(let found) = await store.users(where: { _ in true }) else {
                Issue.record("no users")
                return
            }
            let users = ["ann", "bob", "\u{301}zed"]
            #expect(Set(found) == Set(users.compactMap { UserID($0) }))
            let orders = try users.map { try GoogleBench.order($0) }
            #expect(await store.purge(orders).map(\.rowCounts) == [[1], [1], [1]])
            #expect(await store.verify(orders) == [.clean, .clean, .clean])
            #expect(bench.sandbox.documents == [])
        }
    }

    @Test("earlier versions linger for as long as the database keeps them")
    func versions() async throws {
        try await GoogleBench.with {
            $0.cloud.versionRetentionSeconds = 7 * 86_400
        } _: { bench in
            let store = try Self.store(bench, documents: ["users/{user_id}"])
            guard case .done(let counts) = await store.purge([try GoogleBench.order("a")])[0]
            else {
                Issue.record("not done")
                return
            }
            #expect(counts.residualCopies.map(\.until) == [GoogleBench.now + .seconds(7 * 86_400)])
        }
    }

    @Test("a diagnosis names the query without an index, and a foreign project")
    func diagnosis() async throws {
        try await GoogleBench.with {
            $0.cloud.indexedGroups = []
        } _: { bench in
            let store = try Self.store(bench, groups: ["c where by == {user_id}"])
            let problems = await store.diagnose()
            #expect(problems.count == 1 && problems[0].contains("needs an index"))
            #expect(await store.startupProblems() == problems)
            let foreign = try Self.store(
                bench,
                documents: ["users/{user_id}"],
                project: "foreign"
            )
            #expect(await foreign.startupProblems().count == 1)
            let order = try GoogleBench.order("ann")
            #expect(await foreign.purge([order]) == [.failure(.misconfigured)])
        }
    }

    @Test("an outage is told by a diagnosis and keeps no service from starting")
    func outage() async throws {
        try await GoogleBench.with { bench in
            let store = try Self.store(bench, documents: ["users/{user_id}"])
            bench.sandbox.inject(.unavailable, at: .data, count: 2)
            #expect(await store.diagnose().count == 1)
            #expect(await store.startupProblems().isEmpty)
        }
    }

    @Test("collections that no rule leads to are found")
    func coverage() async throws {
        try await GoogleBench.with { bench in
            for path in ["users/1", "logs/1", "posts/1"] { bench.sandbox.add(CloudDocument(path)) }
            let store = try Self.store(
                bench,
                documents: ["users/{user_id}"],
                groups: ["posts where by == {user_id}"]
            )
            guard case .findings(let findings) = await store.coverage() else {
                Issue.record("no findings")
                return
            }
            #expect(findings.filter { !$0.isCovered }.map(\.name) == ["logs"])
        }
    }

    private func look(
        _ documents: [String],
        _ store: (GoogleBench) throws -> FirestoreStore
    ) async throws -> (unmapped: [String], samples: [String]) {
        var found: [CoverageFinding] = []
        try await GoogleBench.with { bench in
            for path in documents { bench.sandbox.add(CloudDocument(path)) }
            guard case .findings(let findings) = try await store(bench).coverage() else {
                Issue.record("no findings")
                return
            }
            found = findings
        }
        let samples = found.filter(\.isSample).map { "\($0.name): \($0.reason)" }
        return (found.filter { !$0.isCovered }.map(\.name), samples)
    }

    @Test("documents and collections beside the way to users are found")
    func coverageAlongPaths() async throws {
        let documents = [
            "shops/main/orders/ann", "shops/main/orders/ann/items/1", "shops/main/notes/1",
            "shops/other/orders/ann", "users/ann/private/profile", "users/ann/private/other",
            "users/ann/posts/1", "users/ann/bob/1", "users/bob/posts/1", "users/bob/private/other",
        ]
        let (unmapped, samples) = try await look(documents) { bench in
            try Self.store(
                bench,
                documents: ["shops/main/orders/{user_id}", "users/{user_id}/private/profile"]
            )
        }
        #expect(
            unmapped == [
                "shops/other", "shops/main/notes", "users/{user_id}/posts",
                "users/{user_id}/*", "users/{user_id}/private/other",
            ]
        )
        #expect(samples == [])
    }

    @Test("below documents of a query some are looked into where it leaves what is below")
    func coverageBelowQueries() async throws {
        let documents = (0..<60).flatMap { index in
            ["posts/\(index)", "posts/\(index)/likes/1", "posts/\(index)/comments/1"]
        }
        let queries = ["posts where by == {user_id}"]
        for subcollections in [true, false] {
            let (unmapped, samples) = try await look(documents) { bench in
                try Self.store(
                    bench,
                    collections: queries,
                    groups: ["likes where by == {user_id}"],
                    subcollections: subcollections,
                    pageSize: 50
                )
            }
            #expect(unmapped == (subcollections ? [] : ["posts/*/comments"]))
            let told = ["posts/: the first 50 names were looked at"]
            let more = ["posts/*: 20 of 50 or more were looked into"]
            #expect(samples.sorted() == (subcollections ? [] : more + told))
        }
    }
}

@Suite("Paths, queries and pace of Firestore")
struct FirestoreTextTests {
    @Test(
        "a path that leads to no user's document is refused",
        arguments: [
            "", "users", "users/x", "{user_id}", "users/{user_id}/a", "users//{user_id}/a",
            "users/{user_id}/a/{user_id}", "users/{user_id}{user_id}", "users/../a/{user_id}",
            "__users__/{user_id}", String(repeating: "u", count: 1501) + "/{user_id}",
        ]
    )
    func paths(text: String) {
        #expect(throws: MalformedTemplate.self) { try UserPath(text, in: .firestore) }
    }

    @Test(
        "a query that does not say collection and field is refused",
        arguments: [
            "", "posts", "posts where a = {user_id}", "posts where a == x",
            "a/b where c == {user_id}",
            "posts where  == {user_id}", "{user_id} where a == {user_id}",
        ]
    )
    func queries(text: String) {
        #expect(throws: MalformedTemplate.self) { try FieldQuery(text, isGroup: false) }
    }

    @Test("500 writes a second, half as many again every five minutes, anew after a pause")
    func ramp() {
        let ramp = WriteRamp()
        #expect(ramp.reserve(500, at: .zero) == .zero)
        #expect(ramp.reserve(250, at: .zero) == .seconds(1))
        #expect(ramp.reserve(1, at: .zero) == .milliseconds(1_500))
        #expect(WriteRamp.rate(after: .seconds(299)) == 500)
        #expect(WriteRamp.rate(after: .seconds(300)) == 750)
        #expect(WriteRamp.rate(after: .seconds(600)) == 1_125)
        #expect(WriteRamp.rate(after: .seconds(86_400)) == 10_000)
        #expect(ramp.reserve(750, at: .seconds(300)) == .zero)
        #expect(ramp.reserve(1, at: .seconds(300)) == .seconds(1))
        #expect(ramp.reserve(500, at: .seconds(700)) == .zero)
        #expect(ramp.reserve(1, at: .seconds(700)) == .seconds(1))
    }
}
