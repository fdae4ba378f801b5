import Engine
import HTTP
import Lifecycle
import Sandbox
import Synchronization
import TestSupport
import Testing

@testable import Stores

@Suite("Cloud Storage")
struct CloudStorageStoreTests {
    static func store(
        _ bench: GoogleBench,
        prefixes: [String] = ["u/{user_id}/"],
        objects: [String] = [],
        bucket: String = "example-bucket",
        pageSize: Int = 1000,
        rest: @escaping @Sendable (Duration) async throws -> Void = { _ in }
    ) throws -> CloudStorageStore {
        let session = bench.session(rest)
        return CloudStorageStore(
            name: StoreName("objects"),
            templates: try prefixes.map { try KeyTemplate($0, isPrefix: true) }
                + objects.map { try KeyTemplate($0, isPrefix: false) },
            session: session,
            bucket: try CloudBucket(
                bucket,
                at: bench.sandbox.baseURL + "/cloud/storage",
                session,
                pageSize: pageSize
            )
        )
    }

    @Test("every generation of one user's objects goes, nothing of another")
    func purges() async throws {
        try await GoogleBench.with { bench in
            for user in ["1", "12", "é &\"?#%+ä"] {
                for generation in 1...3 as ClosedRange<Int64> {
                    var object = CloudObject("u/\(user)/a/b.txt", generation: generation)
                    object.isLive = generation == 3
                    bench.sandbox.add(object)
                }
                bench.sandbox.add(CloudObject("pic/\(user).png"))
            }
            bench.sandbox.add(CloudObject("u/1"))
            bench.sandbox.add(CloudObject("pic/1.png.bak"))
            let store = try Self.store(bench, objects: ["pic/{user_id}.png"])
            #expect(await store.diagnose() == [])
            let orders = try ["1", "é &\"?#%+ä", "nobody"].map { try GoogleBench.order($0) }
            #expect(await store.verify(orders) == [.remaining(4), .remaining(4), .clean])
            guard case .items(let items) = await store.plan(orders[0]) else {
                Issue.record("no plan")
                return
            }
            #expect(items.map(\.count) == [3, 1])
            #expect(await store.purge(orders).map(\.rowCounts) == [[3, 1], [3, 1], [0, 0]])
            #expect(await store.verify(orders) == [.clean, .clean, .clean])
            #expect(
                bench.sandbox.objects.map(\.name) == [
                    "pic/1.png.bak", "pic/12.png", "u/1", "u/12/a/b.txt", "u/12/a/b.txt",
                    "u/12/a/b.txt",
                ]
            )
        }
    }

    @Test("a key with an empty name behind the user id stays, and plan and receipt name it")
    func emptyName() async throws {
        try await GoogleBench.with { bench in
            for name in ["u/ann/x", "u/ann//b"] { bench.sandbox.add(CloudObject(name)) }
            let store = try Self.store(bench)
            let order = try GoogleBench.order("ann")
            guard case .items(let items) = await store.plan(order) else {
                Issue.record("no plan")
                return
            }
            #expect(items.map(\.action) == [.delete, .keep] && items.map(\.count) == [1, 1])
            guard case .done(let counts) = await store.purge([order])[0] else {
                Issue.record("not done")
                return
            }
            #expect(counts.entries.map(\.rowCount) == [1, 1])
            #expect(counts.entries.last?.passedOver?.text == items.last?.reason)
            #expect(bench.sandbox.objects.map(\.name) == ["u/ann//b"])
        }
    }

    @Test("no page is asked for twice, since a user's calls are somebody's bill")
    func calls() async throws {
        try await GoogleBench.with { bench in
            for user in ["ann", "bob"] { bench.sandbox.add(CloudObject("u/\(user)/a")) }
            let store = try Self.store(bench)
            let order = try GoogleBench.order("ann")
            let before = bench.sandbox.log().count
            _ = await store.purge([order])
            // A listing, a deletion, and how long the bucket keeps what is deleted.
            let purged = bench.sandbox.log().count
            #expect(purged - before == 3)
            #expect(await store.verify([order]) == [.clean])
            #expect(bench.sandbox.log().count - purged == 2)
        }
    }

    @Test(
        "names that begin so end before a name that does not",
        arguments: [
            ("u/1/", "u/10"), ("u/é", "u/ê"), ("u/\u{d7ff}", "u/\u{e000}"),
            ("u/\u{10ffff}", "u0"), ("\u{10ffff}", nil),
        ]
    )
    func end(prefix: String, expected: String?) {
        #expect(CloudBucket.end(of: prefix) == expected)
    }

    @Test("what is newer than the request stays and is reported, page by page")
    func cutoff() async throws {
        try await GoogleBench.with { bench in
            let cutoff = GoogleBench.now + .seconds(-1)
            let later = cutoff.unixMilliseconds + 1
            for index in 0..<6 {
                bench.sandbox.add(
                    CloudObject(
                        "u/ann/\(index)",
                        createdAtMilliseconds: index.isMultiple(of: 2) ? later : 0
                    )
                )
            }
            for pageSize in [1, 2, 3, 1000] {
                let store = try Self.store(bench, pageSize: pageSize)
                let order = try GoogleBench.order("ann", cutoff: cutoff)
                guard case .done(let counts) = await store.purge([order])[0] else {
                    Issue.record("not done")
                    return
                }
                #expect(counts.entries.map(\.rowCount) == [3] && counts.entries[0].newerCount == 3)
                #expect(await store.verify([order]) == [.clean])
                #expect(bench.sandbox.objects.map(\.name) == ["u/ann/0", "u/ann/2", "u/ann/4"])
                for index in [1, 3, 5] { bench.sandbox.add(CloudObject("u/ann/\(index)")) }
            }
            let store = try Self.store(bench)
            let order = try GoogleBench.order("ann", cutoff: cutoff)
            _ = await store.purge([order])
            let tomorrow = GoogleBench.now.unixMilliseconds + 86_400_000
            bench.sandbox.add(CloudObject("u/ann/1", createdAtMilliseconds: tomorrow))
            let ahead = EffectFailure.blocked(Obstacle(.future, at: "u/{user_id}/"))
            #expect(await store.verify([order]) == [.failure(ahead)])
        }
    }

    @Test("holds and retention linger, the rest goes, and the purge ends")
    func locks() async throws {
        try await GoogleBench.with { bench in
            let end = GoogleBench.now + .seconds(60)
            var held = CloudObject("u/ann/held")
            held.isHeld = true
            var retained = CloudObject("u/ann/retained")
            retained.retainedUntilMilliseconds = end.unixMilliseconds
            var free = CloudObject("u/ann/free")
            free.retainedUntilMilliseconds = GoogleBench.now.unixMilliseconds
            for object in [held, retained, free] { bench.sandbox.add(object) }
            let store = try Self.store(bench, pageSize: 1)
            let order = try GoogleBench.order("ann")
            guard case .done(let counts) = await store.purge([order])[0] else {
                Issue.record("not done")
                return
            }
            #expect(counts.entries.map(\.rowCount) == [1])
            let residualCopies = Dictionary(
                uniqueKeysWithValues: counts.residualCopies.map { ($0.text, $0.until) }
            )
            #expect(residualCopies["objects under retention in bucket 'example-bucket'"] == end)
            let held2 = residualCopies["objects under an object hold in bucket 'example-bucket'"]
            #expect(held2 == .some(nil))
            #expect(await store.verify([order]) == [.clean])
            #expect(bench.sandbox.objects.map(\.name) == ["u/ann/held", "u/ann/retained"])
        }
    }

    @Test("soft-deleted objects linger until the bucket destroys them")
    func softDeletion() async throws {
        try await GoogleBench.with {
            $0.cloud.softDeletionSeconds = 86_400
        } _: { bench in
            bench.sandbox.add(CloudObject("u/ann/x"))
            var earlier = CloudObject("u/ann/y")
            earlier.hardDeleteMilliseconds = (GoogleBench.now + .seconds(90_000)).unixMilliseconds
            bench.sandbox.add(earlier)
            let store = try Self.store(bench)
            let orders = [try GoogleBench.order("ann"), try GoogleBench.order("bob")]
            var ends: [WallTime?] = []
            for answer in await store.purge(orders) {
                guard case .done(let counts) = answer else { return #expect(Bool(false)) }
                let soft = counts.residualCopies.first { $0.text.hasPrefix("soft-deleted") }
                ends.append(soft?.until)
                // What is being uploaded is told to everybody.
                #expect(
                    counts.residualCopies.last?.until == GoogleBench.now + .seconds(7 * 86_400)
                )
            }
            #expect(ends == [GoogleBench.now + .seconds(90_000), nil])
            #expect(await store.verify(orders) == [.clean, .clean])
        }
    }

    @Test(
        "of more soft-deleted objects than are looked at, the last goes as late as it may",
        arguments: [(100, 1, 100), (101, 1, 86_400), (101, 90_000, 90_000)]
    )
    func manySoftDeleted(count: Int, first: Int64, expected: Int64) async throws {
        try await GoogleBench.with {
            $0.cloud.softDeletionSeconds = 86_400
        } _: { bench in
            for index in 1...count {
                var object = CloudObject("u/ann/\(1000 + index)")
                let seconds = index == 1 ? first : Int64(index)
                let end = GoogleBench.now + .seconds(seconds)
                object.hardDeleteMilliseconds = end.unixMilliseconds
                bench.sandbox.add(object)
            }
            let store = try Self.store(bench, pageSize: 1)
            guard case .done(let counts) = await store.purge([try GoogleBench.order("ann")])[0]
            else { return #expect(Bool(false)) }
            let soft = counts.residualCopies.first { $0.text.hasPrefix("soft-deleted") }
            #expect(soft?.until == GoogleBench.now + .seconds(expected))
        }
    }

    @Test("a bucket whose settings cannot be read is purged, and the date is left open")
    func settingsUnread() async throws {
        try await GoogleBench.with {
            $0.cloud.mayReadBucket = false
        } _: { bench in
            let store = try Self.store(bench)
            let order = try GoogleBench.order("ann")
            guard case .done(let counts) = await store.purge([order])[0] else {
                Issue.record("not done")
                return
            }
            #expect(counts.residualCopies.first?.text.hasPrefix("soft-deleted") == true)
            #expect(counts.residualCopies.first?.until == nil)
            #expect(await store.diagnose().count == 1)
            #expect(await store.startupProblems() == [])
        }
    }

    @Test("a purge that breaks off after any page is taken up again, others' data unchanged")
    func cut() async throws {
        try await GoogleBench.with { bench in
            for index in 0..<5 {
                bench.sandbox.add(CloudObject("u/ann/\(index)"))
                bench.sandbox.add(CloudObject("u/bob/\(index)"))
            }
            let order = try GoogleBench.order("ann")
            struct Stop: Error {}
            var cutCount = 0
            for step in 1...20 {
                let rests = Mutex(0)
                let store = try Self.store(bench, pageSize: 1) { _ in
                    let count = rests.withLock { count in
                        count += 1
                        return count
                    }
                    if count == step { throw Stop() }
                }
                guard await store.purge([order])[0] == .failure(.lost) else { break }
                cutCount += 1
            }
            #expect((2..<20).contains(cutCount))
            let whole = try Self.store(bench)
            #expect(await whole.verify([order]) == [.clean])
            #expect(bench.sandbox.objects.map(\.name) == (0..<5).map { "u/bob/\($0)" })
        }
    }

    @Test(
        "whatever fails on the way, trying again finishes",
        arguments: 1...6 as ClosedRange<UInt64>
    )
    func resumes(seed: UInt64) async throws {
        try await GoogleBench.with { bench in
            for user in ["ann", "bob"] {
                for index in 0..<3 { bench.sandbox.add(CloudObject("u/\(user)/\(index)")) }
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
            #expect(bench.sandbox.objects.map(\.name) == (0..<3).map { "u/bob/\($0)" })
        }
    }

    @Test("an id that holds the separator, or would change the path, is left for an operator")
    func oddIDs() async throws {
        try await GoogleBench.with { bench in
            bench.sandbox.add(CloudObject("u/a/b/x"))
            let store = try Self.store(bench, objects: ["{user_id}"])
            for id in ["a/b", ".", ".."] {
                let order = try GoogleBench.order(id)
                #expect(await store.purge([order]) == [.failure(.unusable)])
            }
            #expect(bench.sandbox.objects.count == 1)
        }
    }

    @Test("a bucket that is not there stops the start, an outage does not")
    func failures() async throws {
        try await GoogleBench.with { bench in
            let missing = try Self.store(bench, bucket: "no-such-bucket")
            let order = try GoogleBench.order("ann")
            #expect(await missing.purge([order]) == [.failure(.misconfigured)])
            #expect(await missing.startupProblems().count == 1)
            bench.sandbox.inject(.unavailable, at: .data, count: 1)
            let store = try Self.store(bench)
            #expect(await store.startupProblems() == [])
        }
    }

    @Test("folders that no rule leads to are found")
    func coverage() async throws {
        try await GoogleBench.with { bench in
            for name in ["u/ann/x", "logs/x", "root"] { bench.sandbox.add(CloudObject(name)) }
            guard case .findings(let findings) = try await Self.store(bench).coverage() else {
                Issue.record("no findings")
                return
            }
            #expect(findings.filter { !$0.isCovered }.map(\.name) == ["*", "logs/"])
        }
    }

    @Test(
        "what lies beside what rules take of a user is found, and not whose it is",
        arguments: [1, 1000]
    )
    func siblings(pageSize: Int) async throws {
        try await GoogleBench.with { bench in
            for name in [
                "u/canary-1/cache/x", "u/canary-1/exports/x", "u/canary-2/exports/x",
                "u/canary-1/Divorce 2024/x", "u/canary-1/canary-3/x", "u/canary-2/canary-3/x",
                "u/canary-3/cache/x", "avatars/canary-1.png", "avatars/canary-1.webp",
                "avatars/canary-1-with-canary-3.jpg", "avatars/canary-2.png",
                "avatars/canary-2-with-canary-3.jpg", "avatars/canary-3.png",
            ] { bench.sandbox.add(CloudObject(name)) }
            let store = try Self.store(
                bench,
                prefixes: ["u/{user_id}/cache/"],
                objects: ["avatars/{user_id}.png"],
                pageSize: pageSize
            )
            guard case .findings(let findings) = await store.coverage() else {
                Issue.record("no findings")
                return
            }
            let names = findings.filter { !$0.isCovered }.map(\.name)
            #expect(
                names == [
                    "avatars/{user_id}.webp", "avatars/*", "u/{user_id}/exports/", "u/{user_id}/*/",
                ]
            )
        }
    }

    @Test("a folder above users with the id of one of them is counted")
    func foldersOfUsers() async throws {
        try await GoogleBench.with { bench in
            for name in [
                "u-canary-1/x", "canary-1/x", "canary-2-old/x", "logs/x", "p/canary-2.png",
            ] { bench.sandbox.add(CloudObject(name)) }
            let store = try Self.store(
                bench,
                prefixes: ["u-{user_id}/"],
                objects: ["p/{user_id}.png"]
            )
            guard case .findings(let findings) = await store.coverage() else {
                Issue.record("no findings")
                return
            }
            let found = findings.filter { !$0.isCovered }.map { "\($0.name): \($0.reason)" }
            #expect(
                found == ["logs/: no rule leads there", "*/: 2 folders, no rule leads there"]
            )
        }
    }
}
