import Engine
import HTTP
import Lifecycle
import Sandbox
import TestSupport
import Testing

@testable import Stores

@Suite("Users that fields of Firestore's documents name")
struct FirestoreUsersTests {
    private static func names(_ answer: UsersAnswer) -> [String] {
        guard case .found(let users) = answer else { return ["\(answer)"] }
        return users.map { $0.exposeText() }.sorted()
    }

    @Test("collections and groups tell the users of a field, each purge finds what was listed")
    func fields() async throws {
        try await GoogleBench.with { bench in
            for (path, fields) in [
                ("posts/1", ["author": "ann"]), ("posts/2", ["author": "bob"]),
                ("posts/3", ["title": "of nobody"]), ("posts/4", ["author": ""]),
                ("drafts/1/posts/1", ["author": "not in this collection"]),
                ("albums/1/likes/1", ["by.id": "carl"]), ("likes/1", ["by.id": "é &\"%"]),
                ("shops/main/orders/1", ["`who-is-it`": "dora"]),
                ("shops/main/orders/2", ["`who-is-it`": "no\u{7}id"]),
                ("forms/1", [Self.deep: "erin"]),
            ] {
                bench.sandbox.add(CloudDocument(path, fields: fields))
            }
            let store = try FirestoreStoreTests.store(
                bench,
                collections: [
                    "posts where author == {user_id}",
                    "shops/main/orders where `who-is-it` == {user_id}",
                    "forms where \(Self.deep) == {user_id}",
                ],
                groups: ["likes where by.id == {user_id}"],
                pageSize: 2
            )
            let users = ["ann", "bob", "carl", "dora", "erin", "é &\"%"]
            #expect(Self.names(await store.users { _ in true }) == users)
            #expect(Self.names(await store.users { $0.exposeText() == "dora" }) == ["dora"])
            let orders = try users.map { try GoogleBench.order($0) }
            for answer in await store.purge(orders) {
                #expect(answer.rowCounts?.contains(1) == true)
            }
            #expect(Self.names(await store.users { _ in true }) == [])
        }
    }

    @Test("an owner's many documents cost one page")
    func passesOver() async throws {
        try await GoogleBench.with { bench in
            for number in 0..<100 {
                bench.sandbox.add(CloudDocument("posts/a\(number)", fields: ["author": "ann"]))
            }
            for number in 0..<10 {
                let author = "user-\(number)"
                bench.sandbox.add(CloudDocument("posts/\(number)", fields: ["author": author]))
            }
            let store = try FirestoreStoreTests.store(
                bench,
                collections: ["posts where author == {user_id}"],
                pageSize: 5
            )
            let callCount = bench.sandbox.log().count
            #expect(Self.names(await store.users { _ in true }).count == 11)
            // One page of hers, two of the others, one that is empty.
            #expect(bench.sandbox.log().count - callCount == 4)
        }
    }

    /// As deep as a field may be.
    private static let deep = (0..<20).map { "f\($0)" }.joined(separator: ".")

    @Test("what cannot be listed says why, and a missing index is set up wrongly")
    func unlisted() async throws {
        try await GoogleBench.with {
            $0.cloud.indexedGroups = []
        } _: { bench in
            for field in ["a-b", Self.deep + ".x", "a..b", "`a", "9a"] {
                let store = try FirestoreStoreTests.store(
                    bench,
                    collections: ["posts where \(field) == {user_id}"]
                )
                guard case .unknown(let why) = await store.users(where: { _ in true }) else {
                    Issue.record("listed")
                    continue
                }
                #expect(why.contains("posts where \(field)"))
            }
            let group = try FirestoreStoreTests.store(
                bench,
                groups: ["likes where by == {user_id}"]
            )
            guard case .failure(.misconfigured) = await group.users(where: { _ in true }) else {
                Issue.record("listed without an index")
                return
            }
        }
    }

    @Test(
        "the path of a field is read as the server reads it",
        arguments: [
            ("author", ["author"]), ("by.id", ["by", "id"]), ("_9.`x-y`", ["_9", "x-y"]),
            (#"`a\`b\\.c`.d"#, [#"a`b\.c"#, "d"]), ("", nil), ("a.", nil),
            ("``", nil), ("a`b`", nil), (deep, (0..<20).map { "f\($0)" }), (deep + ".x", nil),
        ]
    )
    func paths(text: String, names: [String]?) {
        #expect(FieldPath(text)?.names == names)
    }
}
