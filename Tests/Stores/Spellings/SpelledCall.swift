import Encoding
import Engine
import Foundation
import Lifecycle
import Sandbox
import TestSupport

@testable import Stores

/// Objects of a bucket of Cloud Storage.
final class CloudStorageSpelled: SpelledStore {
    private let bench: GoogleBench
    let store: any PurgeStore
    private var ids: [Int: String] = [:]

    init(_ bench: GoogleBench) throws {
        self.bench = bench
        store = try CloudStorageStoreTests.store(
            bench,
            prefixes: ["users/{user_id}/"],
            objects: ["pic/{user_id}.png"]
        )
    }

    func fill(_ ids: [Int: String]) {
        self.ids = ids
        let names = ids.values.flatMap { ["users/\($0)/x", "pic/\($0).png"] }
        let present = Set(bench.sandbox.objects.map { Array($0.name.utf8) })
        for name in names where !present.contains(Array(name.utf8)) {
            bench.sandbox.add(CloudObject(name))
        }
    }

    func contents() -> [Int: [UInt8]] {
        var parts = SpelledParts(ids, count: 2)
        for object in bench.sandbox.objects {
            parts.note(object.name, behind: "users/", before: "/x")
            parts.note(object.name, behind: "pic/", before: ".png")
        }
        return parts.contents
    }
}

/// Documents under an id, and with the id in a field.
final class FirestoreSpelled: SpelledStore {
    private let bench: GoogleBench
    let store: any PurgeStore
    private var ids: [Int: String] = [:]

    init(_ bench: GoogleBench) throws {
        self.bench = bench
        store = try FirestoreStoreTests.store(
            bench,
            documents: ["users/{user_id}"],
            collections: ["posts where author == {user_id}"]
        )
    }

    func fill(_ ids: [Int: String]) {
        self.ids = ids
        for (number, text) in ids {
            guard !text.utf8.contains(UInt8(ascii: "/")) else { continue }
            bench.sandbox.add(CloudDocument("users/\(text)"))
            bench.sandbox.add(CloudDocument("posts/\(number)", fields: ["author": text]))
        }
    }

    func contents() -> [Int: [UInt8]] {
        var parts = SpelledParts(ids, count: 2)
        for path in bench.sandbox.documents {
            parts.note(path, behind: "users/", before: "")
        }
        for fields in (bench.sandbox.cloud.fields ?? [:]).values {
            parts.note(Array((fields["author"] ?? "").utf8))
        }
        return parts.contents
    }
}

/// Values of a Realtime Database.
final class RealtimeDatabaseSpelled: SpelledStore {
    private let bench: GoogleBench
    let store: any PurgeStore
    private var ids: [Int: String] = [:]

    init(_ bench: GoogleBench) throws {
        self.bench = bench
        store = try RealtimeDatabaseStoreTests.store(bench)
    }

    func fill(_ ids: [Int: String]) {
        self.ids = ids
        for text in ids.values {
            // firebase.google.com/docs/database/usage/limits, "Data tree".
            let isKey = text.utf8.allSatisfy {
                $0 >= 0x20 && $0 != 0x7f && !".$#[]/".utf8.contains($0)
            }
            if isKey { bench.sandbox.add(value: 1, at: "users", text, "a") }
        }
    }

    func contents() -> [Int: [UInt8]] {
        var parts = SpelledParts(ids, count: 1)
        for place in bench.sandbox.places { parts.note(place, behind: "users/", before: "/a") }
        return parts.contents
    }
}

/// Accounts of Firebase Authentication.
final class FirebaseAuthSpelled: SpelledStore {
    private let bench: GoogleBench
    let store: any PurgeStore
    private var ids: [Int: String] = [:]

    init(_ bench: GoogleBench) throws {
        self.bench = bench
        store = try FirebaseAuthStoreTests.store(bench)
    }

    func fill(_ ids: [Int: String]) {
        self.ids = ids
        // cloud.google.com/identity-platform/docs/reference/rest/v1/projects.accounts, `localId`.
        for text in ids.values where text.utf8.count <= 128 {
            bench.sandbox.add(CloudAccount(text))
        }
    }

    func contents() -> [Int: [UInt8]] {
        var parts = SpelledParts(ids, count: 1)
        for account in bench.sandbox.cloud.accounts ?? [] { parts.note(Array(account.user.utf8)) }
        return parts.contents
    }
}

/// Things behind an HTTP API.
struct HTTPSpelled: SpelledStore {
    let server: HTTPServer
    let store: any PurgeStore

    func fill(_ ids: [Int: String]) throws {
        let things = ids.map { number, text in
            JSONValue.Member("\(number)", ["owner": .string(text)])
        }
        _ = try server.things("example", .object(things))
    }

    func contents() throws -> [Int: [UInt8]] {
        try CommandSpelled.contents(of: server.things("example"))
    }
}

/// Rows of a service of the operator's own.
struct WebhookSpelled: SpelledStore {
    let server: WebhookServer
    let store: any PurgeStore

    func fill(_ ids: [Int: String]) throws {
        try server.setRows(ids.map { JSONValue.Member($0.value, .integer(Int64($0.key + 1))) })
    }

    func contents() throws -> [Int: [UInt8]] {
        guard case .object(let members)? = try server.state()["rows"] else { return [:] }
        let left = members.filter { $0.value.number != 0 }
        return Dictionary(
            uniqueKeysWithValues: left.map {
                (Int($0.value.number ?? 0) - 1, Array($0.name.utf8))
            }
        )
    }
}
