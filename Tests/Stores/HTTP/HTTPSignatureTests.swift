import Engine
import Lifecycle
import Testing

@testable import Stores

@Suite("Calls of an HTTP API that are signed", .serialized) struct HTTPSignatureTests {
    private static let shared = Result { try HTTPServer() }
    private let server: HTTPServer
    /// Encoded in a path, in a query and in a body.
    private let user = "ann+\u{e9}@x"

    init() throws {
        server = try Self.shared.get()
        try server.reset("example", user: user)
    }

    private static let auth = """
        key_credential = "key"
        [store.auth]
        scheme = "aws-sigv4"
        username = "AKIDEXAMPLE"
        region = "eu-central-1"
        service = "execute-api"

        """

    @Test(
        "the other end computes the same signature of each call",
        arguments: [(HTTPStoreTests.find, "document"), (HTTPStoreTests.whole, "user")]
    )
    func right(steps: String, name: String) async throws {
        let order = try GoogleBench.order(user)
        let before = try server.state("example")
        #expect(before.left == 7)
        try await server.with(Self.auth + steps + HTTPStoreTests.verify) { store in
            #expect(await store.diagnose() == [])
            #expect(await store.verify([order]) == [.remaining(7)])
            let entry = PurgeCounts.Entry(name: name, action: .rule(.delete), rowCount: 7)
            #expect(await store.purge([order]) == [.done(PurgeCounts(entries: [entry]))])
            #expect(await store.verify([order]) == [.clean])
        }
        let after = try server.state("example")
        #expect(after.left == 0 && after.others == before.others)
    }

    @Test(
        "another secret, key id, region or service erases nothing",
        arguments: ["", "AKIDEXAMPLE", "eu-central-1", "execute-api"]
    )
    func wrong(part: String) async throws {
        let order = try GoogleBench.order(user)
        let auth = part.isEmpty ? Self.auth : Self.auth.replacing(part, with: "other")
        let secret = part.isEmpty ? "other" : HTTPServer.secret
        let text = auth + HTTPStoreTests.whole + HTTPStoreTests.verify
        try await server.with(text, secret: secret) { store in
            #expect(await store.startupProblems() == ["step 'left': the server answered 401"])
            #expect(await store.purge([order]) == [.failure(.misconfigured)])
        }
        #expect(try server.state("example").left == 7)
    }
}
