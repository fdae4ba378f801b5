import Engine
import HTTP
import Lifecycle
import NIOCore
import Sandbox
import Synchronization
import TestSupport
import Testing

@testable import Stores

@Suite("Realtime Database")
struct RealtimeDatabaseStoreTests {
    static func store(
        _ bench: GoogleBench,
        paths: [String] = ["users/{user_id}"],
        createdAtChild: String? = nil,
        namespace: String? = nil,
        at place: String = "/cloud/database",
        pageSize: Int = 1000,
        rest: @escaping @Sendable (Duration) async throws -> Void = { _ in }
    ) throws -> RealtimeDatabaseStore {
        let session = bench.session(rest)
        return RealtimeDatabaseStore(
            name: StoreName("tree"),
            paths: try paths.map { try UserPath($0, in: .realtimeDatabase) },
            createdAtChild: createdAtChild,
            session: session,
            tree: try RealtimeTree(
                bench.sandbox.baseURL + place,
                namespace: namespace,
                session,
                pageSize: pageSize
            )
        )
    }

    @Test("what is at one user's paths goes, nothing of another")
    func purges() async throws {
        try await GoogleBench.with { bench in
            for user in ["1", "12", "é &\"?%+ä"] {
                bench.sandbox.add(value: 1, at: "users", user, "a", "b")
                bench.sandbox.add(value: 1, at: "names", user + "-x")
            }
            let store = try Self.store(bench, paths: ["users/{user_id}", "names/{user_id}-x"])
            #expect(await store.diagnose() == [])
            let orders = try ["1", "é &\"?%+ä", "nobody"].map { try GoogleBench.order($0) }
            #expect(await store.verify(orders) == [.remaining(2), .remaining(2), .clean])
            guard case .items(let items) = await store.plan(orders[0]) else {
                Issue.record("no plan")
                return
            }
            #expect(items.map(\.count) == [1, 1] && items.map(\.hasNoTimestamps) == [true, true])
            #expect(await store.purge(orders).map(\.rowCounts) == [[1, 1], [1, 1], [0, 0]])
            #expect(await store.verify(orders) == [.clean, .clean, .clean])
            #expect(bench.sandbox.places == ["names/12-x", "users/12/a/b"])
        }
    }

    @Test("an emulator is asked for the database that is meant, however much is in it")
    func namespace() async throws {
        try await GoogleBench.with {
            $0.cloud.treeMax = 3
        } _: { bench in
            let copied = (0..<9).map { ("users/ann/\($0)x", Int64(1)) }
            let database = Dictionary(uniqueKeysWithValues: copied)
            bench.sandbox.add(CloudContents(databases: ["copy": database]))
            for index in 0..<9 { bench.sandbox.add(value: 1, at: "users", "ann", "\(index)x") }
            let store = try Self.store(bench, namespace: "copy")
            let order = try GoogleBench.order("ann")
            #expect(await store.diagnose() == [])
            guard case .found(let users) = await store.users(where: { _ in true }) else {
                Issue.record("no users")
                return
            }
            #expect(users == [order.user])
            #expect(await store.purge([order]).map(\.rowCounts) == [[1]])
            #expect(await store.verify([order]) == [.clean])
            #expect(bench.sandbox.cloud.databases == ["copy": [:]])
            #expect(bench.sandbox.places.count == 9)
            let none = try Self.store(bench, namespace: "nowhere")
            #expect(await none.purge([order]) == [.failure(.misconfigured)])
        }
    }

    @Test("keys that are numbers come as a list, which tells them by their places")
    func numbers() {
        let keys = Mutex<[String]>([])
        let listing = KeyListing { key in keys.withLock { $0.append(key) } }
        let elements = (0..<50_000).map { $0 % 3 == 0 ? "null" : "true" }
        let text = ByteBuffer(string: "[" + elements.joined(separator: ",") + "]")
        for start in stride(from: 0, to: text.readableBytes, by: 999) {
            let count = min(999, text.readableBytes - start)
            listing.take(text.readableBytesView[start..<(start + count)])
        }
        #expect(listing.finish())
        let numbers = (0..<50_000).filter { $0 % 3 != 0 }.map(String.init)
        #expect(keys.withLock { $0 } == numbers)
    }

    @Test("more keys than an answer may have are listed all the same")
    func manyUsers() async throws {
        try await GoogleBench.with { bench in
            let names = (0..<40_000).map { "user-\($0)-\(String(repeating: "x", count: 32))" }
            let erased = Set((0..<40).map { names[$0 * 997] })
            for name in names { bench.sandbox.add(value: 1, at: "users", name, "a") }
            bench.sandbox.add(value: 1, at: "online", "ann", "a")
            let store = try Self.store(bench, paths: ["users/{user_id}", "online/{user_id}"])
            let isWanted: @Sendable (UserID) -> Bool = { user in
                erased.contains(user.exposeText()) || user.exposeText() == "ann"
            }
            guard case .found(let users) = await store.users(where: isWanted) else {
                Issue.record("no users")
                return
            }
            #expect(Set(users.map { $0.exposeText() }) == erased.union(["ann"]))
            #expect(users.count == 41)
        }
    }

    @Test("a list that is cut off, or none that is documented, is not half a list")
    func brokenLists() async throws {
        try await GoogleBench.with { bench in
            for index in 0..<5000 { bench.sandbox.add(value: 1, at: "users", "user-\(index)", "a") }
            let store = try Self.store(bench)
            let failures: [(FaultKind, EffectFailure)] = [
                (.truncated, .lost), (.html, .unusable), (.reset, .lost),
            ]
            for (kind, failure) in failures {
                bench.sandbox.inject(kind, at: .data, count: 1)
                guard case .failure(failure) = await store.users(where: { _ in true }) else {
                    Issue.record("\(kind) is no \(failure)")
                    continue
                }
            }
            bench.sandbox.inject(.none)
            guard case .found(let users) = await store.users(where: { _ in true }) else {
                Issue.record("no users")
                return
            }
            #expect(users.count == 5000)
        }
    }

    @Test("what is too much for one write goes in pieces, however it is nested")
    func pieces() async throws {
        try await GoogleBench.with {
            $0.cloud.treeMax = 3
        } _: { bench in
            for user in ["ann", "bob"] {
                for index in 0..<40 {
                    bench.sandbox.add(value: 1, at: "users", user, "flat", "\(index)")
                    bench.sandbox.add(value: 1, at: "users", user, "d", "e", "f", "\(index % 9)x")
                    bench.sandbox.add(value: 1, at: "users", user, "w\(index)", "x")
                }
            }
            let store = try Self.store(bench, pageSize: 7)
            let others = bench.sandbox.places.filter { $0.hasPrefix("users/bob") }
            let order = try GoogleBench.order("ann")
            #expect(await store.verify([order]) == [.remaining(42)])
            #expect(await store.purge([order]).map(\.rowCounts) == [[1]])
            #expect(await store.verify([order]) == [.clean])
            #expect(bench.sandbox.places == others)
        }
    }

    @Test("a purge that breaks off after any step is taken up again, others' data unchanged")
    func cut() async throws {
        try await GoogleBench.with {
            $0.cloud.treeMax = 1
        } _: { bench in
            for user in ["ann", "bob"] {
                for index in 0..<6 {
                    bench.sandbox.add(value: 1, at: "users", user, "a", "\(index)")
                    bench.sandbox.add(value: 1, at: "users", user, "b", "\(index)", "c")
                }
            }
            let others = bench.sandbox.places.filter { $0.hasPrefix("users/bob") }
            let order = try GoogleBench.order("ann")
            struct Stop: Error {}
            var cutCount = 0
            for step in 1...60 {
                let rests = Mutex(0)
                let store = try Self.store(bench, pageSize: 2) { _ in
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
            let whole = try Self.store(bench)
            #expect(await whole.verify([order]) == [.clean])
            #expect(bench.sandbox.places == others)
        }
    }

    @Test(
        "whatever fails on the way, trying again finishes",
        arguments: 1...6 as ClosedRange<UInt64>
    )
    func resumes(seed: UInt64) async throws {
        try await GoogleBench.with {
            $0.cloud.treeMax = 1
        } _: { bench in
            for user in ["ann", "bob"] {
                for index in 0..<3 { bench.sandbox.add(value: 1, at: "users", user, "\(index)x") }
            }
            let store = try Self.store(bench, pageSize: 1)
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
            #expect(bench.sandbox.places == (0..<3).map { "users/bob/\($0)x" })
        }
    }

    @Test("data that its application dates after the request stays and is reported")
    func cutoff() async throws {
        try await GoogleBench.with { bench in
            let now = GoogleBench.now.unixMilliseconds
            bench.sandbox.add(value: now + 1, at: "users", "ann", "created")
            bench.sandbox.add(value: now, at: "users", "bob", "created")
            let store = try Self.store(bench, createdAtChild: "created")
            bench.sandbox.add(value: 1, at: "users", "cat", "name")
            let orders = try ["ann", "bob", "cat"].map { try GoogleBench.order($0) }
            var planned: [PlanItem] = []
            for order in orders {
                guard case .items(let items) = await store.plan(order) else { continue }
                planned += items
            }
            #expect(planned.map(\.count) == [0, 1, 1] && planned.map(\.newerCount) == [1, 0, 0])
            #expect(planned.map(\.undatedCount) == [0, 0, 1])
            #expect(!planned.contains { $0.hasNoTimestamps })
            let answers = await store.purge(orders)
            #expect(answers.map(\.rowCounts) == [[0], [1], [1]])
            guard case .done(let counts) = answers[0] else { return }
            #expect(counts.entries[0].newerCount == 1)
            #expect(await store.verify(orders) == [.clean, .clean, .clean])
            #expect(bench.sandbox.places == ["users/ann/created"])
        }
    }

    @Test(
        "an account made anew while the old one's data goes in pieces keeps its own",
        arguments: [false, true]
    )
    func renewed(breaksOff: Bool) async throws {
        try await GoogleBench.with {
            $0.cloud.treeMax = 3
        } _: { bench in
            struct Stop: Error {}
            let later = GoogleBench.now.unixMilliseconds + 1
            var newerCount = 0
            for step in 1...60 {
                let user = "ann\(step)"
                bench.sandbox.add(value: 1, at: "users", user, "created")
                for index in 0..<9 {
                    bench.sandbox.add(value: 1, at: "users", user, "a\(index)")
                    bench.sandbox.add(value: 1, at: "users", user, "large", "\(index)x")
                }
                let rests = Mutex(0)
                let store = try Self.store(bench, createdAtChild: "created", pageSize: 5) { _ in
                    let count = rests.withLock { count in
                        count += 1
                        return count
                    }
                    guard count == step else { return }
                    #expect(Self.isDatedOrGone(bench, user))
                    bench.sandbox.add(value: later, at: "users", user, "created")
                    for index in 0..<9 {
                        bench.sandbox.add(value: 2, at: "users", user, "a\(index)")
                    }
                    if breaksOff { throw Stop() }
                }
                let order = try GoogleBench.order(user)
                var answer = await store.purge([order])[0]
                if breaksOff, answer == .failure(.lost) { answer = await store.purge([order])[0] }
                guard case .done(let counts) = answer else {
                    Issue.record("not done")
                    return
                }
                guard counts.entries[0].newerCount == 1 else { break }
                newerCount += 1
                #expect(counts.entries[0].rowCount == 0)
                #expect(counts.residualCopies.map(\.text).first?.hasPrefix("older data at") == true)
                #expect(counts.residualCopies.map(\.until) == [nil])
                let own = (0..<9).map { "users/\(user)/a\($0)" }
                #expect(Set(bench.sandbox.places).isSuperset(of: own))
            }
            #expect((8..<60).contains(newerCount))
        }
    }

    private static func isDatedOrGone(_ bench: GoogleBench, _ user: String) -> Bool {
        let places = bench.sandbox.places.filter { $0.hasPrefix("users/\(user)/") }
        return places.isEmpty || places.contains("users/\(user)/created")
    }

    @Test("a date that is no date, and too much by itself, goes like all else")
    func largeDate() async throws {
        try await GoogleBench.with {
            $0.cloud.treeMax = 3
        } _: { bench in
            for index in 0..<9 {
                bench.sandbox.add(value: 1, at: "users", "ann", "created", "\(index)x")
            }
            let store = try Self.store(bench, createdAtChild: "created", pageSize: 5)
            #expect(await store.purge([try GoogleBench.order("ann")]).map(\.rowCounts) == [[1]])
            #expect(bench.sandbox.places == [])
        }
    }

    @Test(
        "an id that no key can be is left for an operator",
        arguments: ["a/b", ".", "..", "a.b", "a#b", "$a", "a[b", "a]b"]
    )
    func oddIDs(id: String) async throws {
        try await GoogleBench.with { bench in
            bench.sandbox.add(value: 1, at: "users", "a", "b")
            let store = try Self.store(bench)
            #expect(await store.purge([try GoogleBench.order(id)]) == [.failure(.unusable)])
            #expect(bench.sandbox.places == ["users/a/b"])
        }
    }

    @Test("a 404 is a wrong endpoint, and says nothing of the service account")
    func elsewhere() async throws {
        try await GoogleBench.with { bench in
            let problems = try await Self.store(bench, at: "/cloud/data").startupProblems()
            #expect(problems.count == 1 && problems[0].contains("404"))
            #expect(problems[0].contains("base_url") && !problems[0].contains("account"))
        }
    }

    @Test("a refusal stops the start, an outage does not")
    func failures() async throws {
        try await GoogleBench.with {
            $0.cloud.mayUseDatabase = false
        } _: { bench in
            let store = try Self.store(bench)
            #expect(await store.startupProblems().count == 1)
            let order = try GoogleBench.order("ann")
            #expect(await store.purge([order]) == [.failure(.misconfigured)])
            bench.sandbox.inject(.unavailable, at: .data, count: 1)
            #expect(await store.startupProblems() == [])
        }
    }

    @Test("keys at the root that no rule leads to are found")
    func coverage() async throws {
        try await GoogleBench.with { bench in
            bench.sandbox.add(value: 1, at: "users", "a")
            bench.sandbox.add(value: 1, at: "logs", "a")
            guard case .findings(let findings) = try await Self.store(bench).coverage() else {
                Issue.record("no findings")
                return
            }
            #expect(findings.filter { !$0.isCovered }.map(\.name) == ["logs"])
        }
    }

    @Test("keys beside the way to users are found, and those below some users")
    func coverageAlongPaths() async throws {
        try await GoogleBench.with { bench in
            for index in 0..<30 {
                bench.sandbox.add(value: 1, at: "apps", "main", "users", "\(index)x", "name")
                bench.sandbox.add(value: 1, at: "apps", "main", "users", "\(index)x", "posts", "1")
                bench.sandbox.add(value: 1, at: "apps", "main", "users", "\(index)x", "7x")
                bench.sandbox.add(value: 1, at: "online", "\(index)x", "since")
            }
            bench.sandbox.add(value: 1, at: "apps", "main", "logs", "1")
            bench.sandbox.add(value: 1, at: "apps", "other", "users", "ann")
            let paths = ["apps/main/users/{user_id}/name", "online/{user_id}"]
            let store = try Self.store(bench, paths: paths)
            guard case .findings(let findings) = await store.coverage() else {
                Issue.record("no findings")
                return
            }
            #expect(
                findings.filter { !$0.isCovered }.map(\.name) == [
                    "apps/other", "apps/main/logs", "apps/main/users/{user_id}/posts",
                    "apps/main/users/{user_id}/*",
                ]
            )
            #expect(
                findings.filter(\.isSample).map { "\($0.name): \($0.reason)" }
                    == ["apps/main/users/{user_id}: 20 of 30 were looked into"]
            )
        }
    }

    @Test(
        "a path that names no user's place is refused",
        arguments: [
            "", "users", "users//{user_id}", "a.b/{user_id}", "{user_id}/{user_id}", "$a/{user_id}",
            "a\u{7f}/{user_id}", String(repeating: "u", count: 769) + "/{user_id}",
        ]
    )
    func malformed(text: String) {
        #expect(throws: MalformedTemplate.self) { try UserPath(text, in: .realtimeDatabase) }
    }
}
