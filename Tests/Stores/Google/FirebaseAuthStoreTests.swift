import Engine
import HTTP
import Lifecycle
import Sandbox
import TestSupport
import Testing

@testable import Stores

@Suite("accounts of Firebase as a store")
struct FirebaseAuthStoreTests {
    static func store(
        _ bench: GoogleBench,
        project: String = "example-project",
        at place: String = "/cloud/identitytoolkit",
        isEmulator: Bool = false
    ) throws -> FirebaseAuthStore {
        FirebaseAuthStore(
            name: StoreName("accounts"),
            accounts: try IdentityToolkit(
                IdentityToolkit.Place(
                    baseURL: bench.sandbox.baseURL + place,
                    project: project,
                    isEmulator: isEmulator
                ),
                client: bench.client,
                settings: bench.settings
            ),
            clock: GoogleBench.clock()
        )
    }

    @Test("many users go in one call, and nobody else's account is touched")
    func manyUsers() async throws {
        try await GoogleBench.with { bench in
            for index in 0..<40 { bench.sandbox.add(CloudAccount("u\(index)")) }
            let store = try Self.store(bench)
            let orders = try (0..<39).map { try GoogleBench.order("u\($0)") }
            let answers = await store.purge(orders)
            #expect(answers.count == 39)
            for answer in answers {
                guard case .done(let counts) = answer else {
                    Issue.record("not done")
                    continue
                }
                #expect(counts.entries.map(\.rowCount) == [1])
                #expect(counts.residualCopies.first?.until == GoogleBench.now + .seconds(3_600))
            }
            #expect(await store.verify(orders) == orders.map { _ in .clean })
            #expect(bench.sandbox.account("u38") == nil)
            #expect(bench.sandbox.account("u39")?.validSinceSeconds == 0)
        }
    }

    @Test("purging again, or a user who never was, is done with a count of zero")
    func idempotent() async throws {
        try await GoogleBench.with { bench in
            let store = try Self.store(bench)
            let order = try GoogleBench.order("u1")
            guard case .done(let counts) = await store.purge([order])[0] else {
                Issue.record("not done")
                return
            }
            #expect(counts.entries.map(\.rowCount) == [0])
            #expect(counts.residualCopies.isEmpty)
        }
    }

    @Test("an account of a later life is left alone, counted and no reason to start over")
    func cutoff() async throws {
        try await GoogleBench.with { bench in
            let later = GoogleBench.now.unixMilliseconds + 1
            bench.sandbox.add(CloudAccount("u1", createdAtMilliseconds: later))
            let store = try Self.store(bench)
            let order = try GoogleBench.order("u1")
            guard case .done(let counts) = await store.purge([order])[0] else {
                Issue.record("not done")
                return
            }
            #expect(counts.entries.map(\.newerCount) == [1])
            #expect(await store.verify([order]) == [.clean])
            #expect(bench.sandbox.account("u1") != nil)
        }
    }

    @Test("an account that is still there is remaining, and a plan counts it")
    func remaining() async throws {
        try await GoogleBench.with { bench in
            bench.sandbox.add(CloudAccount("u1"))
            let store = try Self.store(bench)
            let order = try GoogleBench.order("u1")
            #expect(await store.verify([order]) == [.remaining(1)])
            #expect(
                await store.plan(order)
                    == .items([PlanItem(name: "accounts", action: .delete, count: 1)])
            )
            #expect(bench.sandbox.account("u1") != nil)
        }
    }

    @Test("a verification asks by a query, and believes no account that it did not ask for")
    func otherQuery() async throws {
        try await GoogleBench.with { bench in
            let store = try Self.store(bench)
            let order = try GoogleBench.order("u1")
            for decoy in ["u2", "U1", "u1x"] {
                bench.sandbox.answerQueries(with: CloudAccount(decoy))
                #expect(await store.verify([order]) == [.failure(.unusable)])
            }
            // What a lookup would not find, a query does.
            bench.sandbox.answerQueries(with: CloudAccount("u1"))
            #expect(await store.verify([order]) == [.remaining(1)])
            let newer = GoogleBench.now.unixMilliseconds + 1
            bench.sandbox.answerQueries(with: CloudAccount("u1", createdAtMilliseconds: newer))
            #expect(await store.verify([order]) == [.clean])
            bench.sandbox.answerQueries(with: nil)
            #expect(await store.verify([order]) == [.clean])
        }
    }

    @Test("without the query nothing is called gone, and a diagnosis says so; an emulator looks up")
    func unknownQuery() async throws {
        try await GoogleBench.with {
            $0.cloud.knowsAccountQuery = false
        } _: { bench in
            let store = try Self.store(bench)
            let order = try GoogleBench.order("u1")
            #expect(await store.verify([order]) == [.failure(.misconfigured)])
            let sentences = await store.startupProblems()
            #expect(sentences.count == 1 && sentences[0].contains("accounts:query"))
            let emulated = try Self.store(bench, isEmulator: true)
            #expect(await emulated.startupProblems().isEmpty)
            #expect(await emulated.verify([order]) == [.clean])
            bench.sandbox.add(CloudAccount("u1"))
            #expect(await emulated.verify([order]) == [.remaining(1)])
        }
    }

    @Test("all accounts are listed over pages, and an outage in between is no short list")
    func users() async throws {
        try await GoogleBench.with {
            $0.cloud.pageMax = 7
        } _: { bench in
            let ids = (0..<50).map { "user-\($0)" } + ["\u{e9} &?#%+/"]
            for id in ids { bench.sandbox.add(CloudAccount(id)) }
            bench.sandbox.add(CloudAccount("no\u{7}id"))
            let store = try Self.store(bench)
            let everybody = await store.users { _ in true }
            guard case .found(let users) = everybody else {
                Issue.record("no list")
                return
            }
            #expect(users.map { $0.exposeText() }.sorted() == ids.sorted())
            guard case .found(let some) = await store.users(where: { $0.exposeText() == "user-9" })
            else {
                Issue.record("no list")
                return
            }
            #expect(some.map { $0.exposeText() } == ["user-9"])
            bench.sandbox.inject(FaultPlan(rate: 0.5, kinds: [.serverError], endpoints: [.data]))
            guard case .failure = await store.users(where: { _ in true }) else {
                Issue.record("no failure")
                return
            }
        }
    }

    @Test(
        "whatever fails on the way, trying again finishes",
        arguments: 1...12 as ClosedRange<UInt64>
    )
    func resumes(seed: UInt64) async throws {
        try await GoogleBench.with { bench in
            bench.sandbox.add(CloudAccount("u1"))
            let store = try Self.store(bench)
            let order = try GoogleBench.order("u1")
            let kinds: [FaultKind] = [
                .reset, .unavailable, .serverError, .html, .truncated, .responseLost,
            ]
            bench.sandbox.inject(
                FaultPlan(rate: 0.5, kinds: kinds, endpoints: [.data], seed: seed)
            )
            var tries = 0
            while tries < 100 {
                tries += 1
                if case .done = await store.purge([order])[0] { break }
            }
            #expect(tries < 100)
            bench.sandbox.inject(.none)
            #expect(bench.sandbox.account("u1") == nil)
            #expect(await store.verify([order]) == [.clean])
        }
    }

    @Test("a 404 is a wrong endpoint, and says nothing of the service account")
    func elsewhere() async throws {
        try await GoogleBench.with { bench in
            let store = try Self.store(bench, at: "/cloud/identitytoolkit/v2")
            let problems = await store.startupProblems()
            #expect(problems.count == 1 && problems[0].contains("404"), "\(problems)")
            #expect(problems.allSatisfy { $0.contains("base_url") })
            #expect(problems.allSatisfy { !$0.contains("service account") })
        }
    }

    @Test("a diagnosis is empty, or one sentence that says what to check")
    func diagnosis() async throws {
        try await GoogleBench.with { bench in
            let store = try Self.store(bench)
            #expect(await store.diagnose().isEmpty)
            let sentences = try await Self.store(bench, project: "foreign").diagnose()
            #expect(sentences.count == 1 && sentences[0].contains("the role of the account"))
            let foreign = try Self.store(bench, project: "foreign")
            #expect(await foreign.startupProblems() == sentences)
        }
    }

    @Test(
        "an outage is told by a diagnosis and keeps no service from starting",
        arguments: [FaultKind.serverError, .unavailable, .html, .reset]
    )
    func outage(kind: FaultKind) async throws {
        try await GoogleBench.with { bench in
            let store = try Self.store(bench)
            bench.sandbox.inject(kind, at: .data, count: 2)
            #expect(await store.diagnose().count == 1)
            #expect(await store.startupProblems().isEmpty)
        }
    }
}
