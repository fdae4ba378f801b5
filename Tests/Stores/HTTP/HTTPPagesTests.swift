import Lifecycle
import Testing

@testable import Stores

@Suite("The pages of an HTTP API", .serialized)
struct HTTPPagesTests {
    private static let shared = Result { try HTTPServer() }
    private let server: HTTPServer

    init() throws { server = try Self.shared.get() }

    private static let cursor = """
        query = { owner = "{user_id}", after = "{cursor}" }
        next = "/next"
        match = { "/owner" = "{user_id}" }

        """
    private static let link = """
        query = { owner = "{user_id}" }
        next = "/next_url"
        match = { "/owner" = "{user_id}" }

        """
    private static let number = """
        query = { owner = "{user_id}", after = "{page}" }
        match = { "/owner" = "{user_id}" }

        """

    @Test(arguments: [
        ("</a?p=2>; rel=\"next\"", "/a?p=2"), ("</a>; rel=next, </b>; rel=last", "/a"),
        ("</b>; rel=\"prev\", </a>; title=x; rel=\"next last\"", "/a"),
        ("</a>; rel=\"prev next\"", "/a"), ("</a>; rel=nextpage", nil),
        ("</a>; title=\"rel=next\"", nil), ("</a>", nil), ("", nil),
    ])
    func `the next page is the link that says so`(header: String, next: String?) {
        #expect(HTTPPages.nextLink(header) == next)
    }

    /// What a verification by a list says, and how many calls it made.
    private func verify(
        by kind: String,
        _ paging: String
    ) async throws -> (answer: VerifyAnswer, callCount: Int) {
        let list = """
            [[store.verify]]
            name = "left"
            method = "GET"
            path = "/broken/\(kind)"
            items = "/data"
            id = "/id"
            gone = [404]
            gone_if = { "/code" = "absent" }

            """
        try server.reset("example")
        let order = try GoogleBench.order("ann")
        let text = HTTPStoreTests.auth + HTTPStoreTests.whole + list + paging
        let answers = try await server.with(text) { store in await store.verify([order]) }
        return (answers[0], try server.state("example").calls.count)
    }

    @Test("a list that does not come as a whole proves nothing")
    func unfinished() async throws {
        let wrongField = Self.number.replacing("/owner", with: "/holder")
        for (kind, paging) in [
            ("null", Self.cursor), ("expired", Self.cursor), ("expired", Self.link),
            ("expired", wrongField), ("shared", Self.number),
        ] {
            let answer = try await verify(by: kind, paging).answer
            #expect(answer == .failure(.unusable), "\(kind) \(paging)")
        }
    }

    @Test("a list that is absent, or has no further number, is whole")
    func whole() async throws {
        for paging in [Self.cursor, Self.link, Self.number] {
            let found = try await verify(by: "absent", paging)
            #expect(found.answer == .clean && found.callCount == 1, "\(paging)")
        }
        let found = try await verify(by: "expired", Self.number)
        #expect(found.answer == .clean && found.callCount == 2)
    }

    @Test("a list that leads in a circle ends where it closes")
    func circle() async throws {
        for paging in [Self.cursor, Self.link] {
            let found = try await verify(by: "circle", paging)
            #expect(found.answer == .failure(.unusable), "\(paging)")
            #expect(found.callCount == 3, "\(paging)")
        }
    }
}
