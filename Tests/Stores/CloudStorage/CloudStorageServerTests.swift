import Engine
import Lifecycle
import Testing

@testable import Stores

@Suite("Cloud Storage against an emulator", .serialized)
struct CloudStorageServerTests {
    @Test("one user's objects go, nothing of another")
    func purges() async throws {
        let (prefixes, objects) = (["u/{user_id}/"], ["pic/{user_id}.png"])
        try await CloudStorageFixture.with(prefixes: prefixes, objects: objects) { fixture in
            for user in ["1", "12", "é &+ä"] {
                try fixture.put("u/\(user)/a/b.txt", "u/\(user)/c", "pic/\(user).png")
            }
            let store = fixture.store
            #expect(await store.diagnose() == [])
            let orders = try ["1", "é &+ä", "nobody"].map { try FilesFixture.order($0) }
            #expect(await store.verify(orders) == [.remaining(3), .remaining(3), .clean])
            for (answer, expected) in zip(await store.purge(orders), [[2, 1], [2, 1], [0, 0]]) {
                guard case .done(let counts) = answer else {
                    Issue.record("\(answer)")
                    continue
                }
                #expect(counts.entries.map(\.rowCount) == expected)
            }
            #expect(await store.verify(orders) == [.clean, .clean, .clean])
            #expect(try fixture.names == ["pic/12.png", "u/12/a/b.txt", "u/12/c"])
            guard case .findings(let findings) = await store.coverage() else {
                Issue.record("no findings")
                return
            }
            #expect(findings.filter { !$0.isCovered }.isEmpty)
        }
    }

    @Test("what is newer than the request stays")
    func cutoff() async throws {
        try await CloudStorageFixture.with(prefixes: ["u/{user_id}/"]) { fixture in
            try fixture.put("u/ann/x")
            let order = try FilesFixture.order("ann", cutoff: FilesFixture.now() + .seconds(-3600))
            guard case .done(let counts) = await fixture.store.purge([order])[0] else {
                Issue.record("not done")
                return
            }
            #expect(counts.entries[0].rowCount == 0 && counts.entries[0].newerCount == 1)
            #expect(await fixture.store.verify([order]) == [.clean])
            #expect(try fixture.names == ["u/ann/x"])
        }
    }
}
