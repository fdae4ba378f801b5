import Encoding
import Engine
import Foundation
import Lifecycle
import Sandbox

@testable import Stores

/// Folders below a root, found by the file system's own calls.
struct FilesSpelled: SpelledStore {
    private let fixture: FilesFixture
    let store: any PurgeStore

    init() throws {
        fixture = try FilesFixture()
        store = try fixture.store("users/{user_id}")
    }

    private func file(_ text: String) -> String { "\(fixture.root)/users/\(text)/number" }

    func fill(_ ids: [Int: String]) throws {
        for (number, text) in ids where !text.utf8.contains(0) && !text.utf8.contains(0x2f) {
            guard text.utf8.count <= 255 else { continue }
            try fixture.make("data/uploads/users/\(text)/number", "\(number)")
        }
    }

    func contents() throws -> [Int: [UInt8]] {
        let names = try FileManager.default.contentsOfDirectory(atPath: fixture.root + "/users")
        return Dictionary(
            uniqueKeysWithValues: try names.map { name in
                let number = try String(contentsOfFile: file(name), encoding: .utf8)
                return (Int(number) ?? -1, Array(name.utf8))
            }
        )
    }

    func found(_ text: String, among contents: [Int: [UInt8]]) -> Set<Int> {
        // The file system reads `gil/` as `gil`; an application that lets such an id into a path
        // has given its separator away.
        guard !text.utf8.contains(0x2f), let data = FileManager.default.contents(atPath: file(text))
        else { return [] }
        return Set([Int(String(decoding: data, as: UTF8.self))].compactMap(\.self))
    }
}

/// Keys with and without a wildcard, and members of a hash and of a set.
final class RedisSpelled: SpelledStore {
    private static let keys = ["u:{user_id}", "s:{user_id}:*"]
    private static let members = [("online", "{user_id}"), ("likes:*", "{user_id}/*")]
    /// An application that puts an id with the separator into such a name has given it away.
    private static let separators: Set<UInt8> = [0, 0x2f, 0x3a]

    private let fixture: RedisFixture
    let store: any PurgeStore
    private var ids: [Int: String] = [:]

    init(_ kind: RedisProgram) throws {
        fixture = try RedisFixture(database: 14, of: kind)
        store = fixture.store(try fixture.settings(Self.keys, Self.members))
    }

    func fill(_ ids: [Int: String]) throws {
        self.ids = ids
        let script = """
            local id = ARGV[1]
            redis.call('set', 'u:'..id, 'x') redis.call('set', 's:'..id..':1', 'x')
            redis.call('hset', 'online', id, 'x') redis.call('sadd', 'likes:1', id..'/x')
            """
        for text in ids.values where Self.separators.isDisjoint(with: text.utf8) {
            try fixture.server.cli(database: 14, "EVAL", script, "0", text)
        }
    }

    func contents() throws -> [Int: [UInt8]] {
        let script = """
            local found = {}
            local function add(kind, text)
                local digits = string.gsub(text, '.', function(c)
                    return string.format('%02x', string.byte(c)) end)
                table.insert(found, kind .. digits)
            end
            for _, key in ipairs(redis.call('keys', '*')) do add('k', key) end
            for _, field in ipairs(redis.call('hkeys', 'online')) do add('h', field) end
            for _, member in ipairs(redis.call('smembers', 'likes:1')) do add('m', member) end
            return found
            """
        var parts = SpelledParts(ids, count: 4)
        for line in try fixture.server.cli(database: 14, "EVAL", script, "0") {
            let bytes = Hexadecimal.decode(line.utf8.dropFirst()) ?? []
            switch line.first {
            case "h": parts.note(bytes)
            case "m": parts.note(bytes.dropLast(2))
            default:
                parts.note(bytes.starts(with: "s:".utf8) ? bytes.dropFirst(2).dropLast(2) : [])
                parts.note(bytes.starts(with: "u:".utf8) ? bytes.dropFirst(2) : [])
            }
        }
        return parts.contents
    }
}

/// Objects of a bucket without versions.
final class S3Spelled: SpelledStore {
    private let fixture: S3Fixture
    let store: any PurgeStore
    private var ids: [Int: String] = [:]

    init() throws {
        fixture = try S3Fixture(versioned: false)
        store = try fixture.store(prefixes: ["users/{user_id}/"], keys: ["pic/{user_id}.png"])
    }

    func fill(_ ids: [Int: String]) throws {
        self.ids = ids
        // Lists come as XML, which has no control characters.
        let texts = ids.values.filter { $0.utf8.allSatisfy { $0 >= 0x20 } }
        let keys = texts.flatMap { ["users/\($0)/x", "pic/\($0).png"] }
        let client = Process()
        client.executableURL = URL(fileURLWithPath: "/usr/bin/curl")
        client.arguments =
            [
                "-sS", "--fail", "--globoff", "--path-as-is", "--cacert",
                fixture.server.folder + "/cert.pem", "--aws-sigv4", "aws:amz:us-east-1:s3",
                "--user", "owner:canary-s3-owner-51c2", "-X", "PUT", "--data-binary", "x", "-H",
                "Content-Type: application/octet-stream",
            ]
            + keys.map { key in
                let path = S3Client.encodedPath(key)
                return "https://localhost:\(fixture.server.port)/\(fixture.bucket)/\(path)"
            }
        let output = Pipe()
        client.standardOutput = output
        client.standardError = output
        let text = String(decoding: try client.runToEnd(reading: output), as: UTF8.self)
        guard client.terminationStatus == 0 else { throw ServerFailure(text: text) }
    }

    func contents() throws -> [Int: [UInt8]] {
        var parts = SpelledParts(ids, count: 2)
        for key in try fixture.versions {
            parts.note(key, behind: "users/", before: "/x")
            parts.note(key, behind: "pic/", before: ".png")
        }
        return parts.contents
    }
}

/// Items under a key of texts or of numbers.
final class DynamoDBSpelled: SpelledStore {
    private let fixture: DynamoDBFixture
    private let type: String
    let store: any PurgeStore

    init(type: String) throws {
        self.type = type
        fixture = try DynamoDBFixture()
        try fixture.make("app", type: type, isSorted: false)
        store = try fixture.store(["app where pk == {user_id}"])
    }

    func fill(_ ids: [Int: String]) throws {
        for (number, text) in ids {
            let key: JSONValue = .object([JSONValue.Member(type, .string(text))])
            do {
                try fixture.server.call(
                    "PutItem",
                    [
                        "TableName": .string(fixture.prefix + "app"),
                        "Item": ["pk": key, "number": ["N": .string("\(number)")]],
                    ]
                )
            } catch {
                guard type == "N" else { throw error }
            }
        }
    }

    func contents() throws -> [Int: [UInt8]] {
        try contents(of: "Scan", ["TableName": .string(fixture.prefix + "app")])
    }

    private func contents(of operation: String, _ body: JSONValue) throws -> [Int: [UInt8]] {
        let items = try fixture.server.call(operation, body)["Items"]?.array ?? []
        return Dictionary(
            uniqueKeysWithValues: items.map { item in
                let number = item["number"]?["N"]?.string ?? ""
                return (Int(number) ?? -1, Array((item["pk"]?[type]?.string ?? "").utf8))
            }
        )
    }

    func found(_ text: String, among contents: [Int: [UInt8]]) throws -> Set<Int> {
        let key: JSONValue = .object([JSONValue.Member(type, .string(text))])
        do {
            let found = try self.contents(
                of: "Query",
                [
                    "TableName": .string(fixture.prefix + "app"),
                    "KeyConditionExpression": "pk = :v",
                    "ExpressionAttributeValues": [":v": key],
                ]
            )
            return Set(found.keys)
        } catch {
            guard type == "N" else { throw error }
            return []
        }
    }
}

/// A program that keeps its rows in a file, as JSON.
struct CommandSpelled: SpelledStore {
    private let file: String
    let store: any PurgeStore

    private static let program = """
        import json, sys
        question, path = json.load(sys.stdin), sys.argv[1]
        rows, user = json.load(open(path)), question["user_id"]
        own = [number for number, id in rows.items() if id == user]
        if question["operation"] == "purge":
            for number in own: del rows[number]
            json.dump(rows, open(path, "w"))
            entry = {"name": "rows", "count": len(own)}
            print(json.dumps({"outcome": "purged", "entries": [entry]}))
        elif own: print(json.dumps({"outcome": "remaining", "count": len(own)}))
        else: print(json.dumps({"outcome": "clean"}))
        """

    init() throws {
        file = NSTemporaryDirectory() + "expunged-\(UUID().uuidString)"
        store = try CommandStoreTests.store(
            program: "/usr/bin/python3",
            ["-ISEc", Self.program, file]
        )
    }

    func fill(_ ids: [Int: String]) throws {
        let members = ids.map { JSONValue.Member("\($0.key)", .string($0.value)) }
        try Data(JSONValue.object(members).compactText.utf8).write(to: URL(fileURLWithPath: file))
    }

    func contents() throws -> [Int: [UInt8]] {
        let data = try Data(contentsOf: URL(fileURLWithPath: file))
        return try Self.contents(of: JSONValue(Array(data)))
    }

    /// Of an object whose members are called by the numbers.
    static func contents(of rows: JSONValue?) throws -> [Int: [UInt8]] {
        guard case .object(let members) = rows else { throw ServerFailure(text: "no rows") }
        return Dictionary(
            uniqueKeysWithValues: members.map { member in
                let id = member.value.string ?? member.value["owner"]?.string ?? ""
                return (Int(member.name) ?? -1, Array(id.utf8))
            }
        )
    }
}
