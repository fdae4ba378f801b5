import Engine
import Foundation
import Lifecycle
import Testing

@testable import Stores

/// Every kind and column; without it, one column of each database.
private let isWhole = ProcessInfo.processInfo.environment["SPELLINGS"] == "all"
private let chosenColumns = isWhole ? SpelledColumn.all : SpelledColumn.sample

@Suite("100 spellings of ids in every kind of store", .serialized)
struct EverySpellingTests {
    /// Erases one id of each pair, then the other of each, and compares the store before and after.
    private func tryBoth(
        in spelled: any SpelledStore,
        _ name: String,
        atLeast: Int = 1
    )
        async throws
    {
        for path in [\SpelledPair.own, \SpelledPair.other] {
            let verdict = try await SpelledVerdict.erasing(path, in: spelled)
            #expect(verdict.falselyVerified == [], "\(name)")
            #expect(verdict.touched == [], "\(name)")
            #expect(verdict.cleanCount >= atLeast, "\(name)")
        }
        await spelled.store.shutdown()
    }

    @Test("there are 100 and more, and no two pairs share an id")
    func count() {
        #expect(SpelledPair.all.count >= 100)
        let ids = SpelledPair.all.flatMap { [Array($0.own.utf8), Array($0.other.utf8)] }
        #expect(Set(ids).count == ids.count)
    }

    @Test("sqlite, postgresql and mysql", arguments: chosenColumns)
    func columns(column: SpelledColumn) async throws {
        try await tryBoth(in: try column.open(), "\(column)", atLeast: column.erasedMin)
    }

    @Test("files", .enabled(if: isWhole)) func files() async throws {
        try await tryBoth(in: FilesSpelled(), "files")
    }

    @Test("redis", .enabled(if: isWhole), arguments: RedisProgram.allCases)
    func redis(kind: RedisProgram) async throws {
        try await tryBoth(in: RedisSpelled(kind), "\(kind)")
    }

    @Test("s3", .enabled(if: isWhole)) func s3() async throws {
        try await tryBoth(in: S3Spelled(), "s3")
    }

    @Test("dynamodb", .enabled(if: isWhole), arguments: ["S", "N"])
    func dynamoDB(type: String) async throws {
        try await tryBoth(in: DynamoDBSpelled(type: type), "dynamodb \(type)")
    }

    @Test("command", .enabled(if: isWhole))
    func command() async throws { try await tryBoth(in: CommandSpelled(), "command") }

    @Test("webhook", .enabled(if: isWhole))
    func webhook() async throws {
        let server = try WebhookServer()
        try await server.with { store in
            let spelled = WebhookSpelled(server: server, store: store)
            try await tryBoth(in: spelled, "webhook")
        }
    }

    @Test(
        "google-cloud-storage, firestore, realtime-database and firebase-auth",
        .enabled(if: isWhole)
    )
    func google() async throws {
        try await GoogleBench.with { try await tryBoth(in: CloudStorageSpelled($0), "gcs") }
        try await GoogleBench.with { try await tryBoth(in: FirestoreSpelled($0), "firestore") }
        try await GoogleBench.with { try await tryBoth(in: RealtimeDatabaseSpelled($0), "rtdb") }
        try await GoogleBench.with { try await tryBoth(in: FirebaseAuthSpelled($0), "auth") }
    }

    @Test(
        "http",
        .enabled(if: isWhole),
        arguments: [
            "method = \"DELETE\"\npath = \"/users/{user_id}\"\ngone = [404]\n"
                + "gone_if = { \"/code\" = \"absent\" }\n",
            "method = \"POST\"\npath = \"/delete_by_query\"\neffect = \"repeatable\"\n"
                + "json = { term = { owner = \"{user_id}\" } }\n",
            "method = \"POST\"\npath = \"/form\"\neffect = \"repeatable\"\n"
                + "form = { owner = \"{user_id}\" }\n",
        ]
    )
    func http(step: String) async throws {
        let server = try HTTPServer()
        let steps = "[[store.erase]]\nname = \"user\"\n" + step
        try await server.with(HTTPStoreTests.auth + steps + HTTPStoreTests.verify) { store in
            try await tryBoth(in: HTTPSpelled(server: server, store: store), "http \(step)")
        }
    }
}
