import Encoding
import Foundation
import Glibc
import Lifecycle
import Testing

@testable import Stores

/// A server that speaks DynamoDB (moto, with Tests/DynamoDBServer around it) over TLS on the
/// loopback interface.
///
/// One for all tests of this process. It ends when its standard input does, so that nothing is left
/// however the tests end.
final class DynamoDBServer: Sendable {
    static let shared = Result { try DynamoDBServer() }

    let folder: String
    let port: UInt16
    private let process: Process
    private let input = Pipe()

    private static let script = """
        set -eu; trap '' PIPE
        dir=$1 port=$2 python=$3 serve=$4
        [ -x "$python" ] || { echo "no DynamoDB server: run scripts/setup test"; exit 1; }
        cd "$dir"
        openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 \\
            -subj /CN=localhost -addext subjectAltName=DNS:localhost \\
            -keyout key.pem -out cert.pem >log 2>&1
        "$python" -B "$serve" -H 127.0.0.1 -p "$port" -s -c cert.pem -k key.pem </dev/null \\
            >>log 2>&1 &
        pid=$!
        until curl -sS --cacert cert.pem "https://localhost:$port/moto-api/" >>log 2>&1; do
            kill -0 $pid || { tail -n 5 log; exit 1; }
        done
        echo ready || true  # also where whoever waits is gone
        cat >/dev/null || true
        # The thread that started it may have had all signals blocked, so that only this ends it.
        kill -KILL $pid
        wait $pid || true
        cd / && rm -rf -- "$dir"
        """

    private init() throws {
        folder = "/tmp/expunged-dynamodb-\(getpid())-\(UInt16.random(in: 0...UInt16.max))"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let tree = URL(fileURLWithPath: #filePath).appendingPathComponent("../../../..")
        let python = tree.appendingPathComponent(".build/s3-server/bin/python3").standardized.path
        let serve = tree.appendingPathComponent("Tests/DynamoDBServer/serve.py").standardized.path
        port = try LoopbackPort.take()
        process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/bash")
        process.arguments = ["-c", Self.script, "server", folder, "\(port)", python, serve]
        let output = Pipe()
        process.standardInput = input
        process.standardOutput = output
        process.standardError = output
        try process.run()
        let said = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
        guard said == "ready\n" else { throw ServerFailure(text: said) }
    }

    /// Makes a call by curl, which signs by itself; its answer.
    @discardableResult
    func call(_ operation: String, _ body: JSONValue) throws -> JSONValue {
        let client = Process()
        client.executableURL = URL(fileURLWithPath: "/usr/bin/curl")
        client.arguments = [
            "-sS", "--fail-with-body", "--cacert", "\(folder)/cert.pem",
            "--aws-sigv4", "aws:amz:us-east-1:dynamodb", "--user", "owner:canary-dynamodb-77b0",
            "-H", "X-Amz-Target: DynamoDB_20120810.\(operation)",
            "-H", "Content-Type: application/x-amz-json-1.0", "--data-binary", body.compactText,
            "https://localhost:\(port)/",
        ]
        let output = Pipe()
        client.standardOutput = output
        client.standardError = output
        let data = try client.runToEnd(reading: output)
        let text = String(decoding: data, as: UTF8.self)
        guard client.terminationStatus == 0, let json = JSONValue(Array(data)) else {
            throw ServerFailure(text: text)
        }
        return json
    }
}

/// Tables of one test behind a prefix, with a store over them.
struct DynamoDBFixture {
    static let now = WallTime(unixMilliseconds: 1_800_000_000_000)

    let server: DynamoDBServer
    let prefix: String

    /// The tables' names may begin with a word of Tests/DynamoDBServer, such as `slow-`.
    init(_ behavior: String = "") throws {
        server = try DynamoDBServer.shared.get()
        prefix = behavior + "t\(UInt32.random(in: 0...UInt32.max))-"
    }

    /// Makes a table with the key `pk`, and `sk` where it is sorted, and an index of `author_id`.
    func make(
        _ table: String,
        key: String = "pk",
        type: String = "S",
        isSorted: Bool = true,
        isIndexed: Bool = false,
        hasStream: Bool = false
    ) throws {
        var schema: [JSONValue] = [["AttributeName": .string(key), "KeyType": "HASH"]]
        var types: [JSONValue] = [
            ["AttributeName": .string(key), "AttributeType": .string(type)]
        ]
        if isSorted {
            schema.append(["AttributeName": "sk", "KeyType": "RANGE"])
            types.append(["AttributeName": "sk", "AttributeType": "S"])
        }
        var index: JSONValue?
        if isIndexed {
            types.append(["AttributeName": "author_id", "AttributeType": "S"])
            index = [
                [
                    "IndexName": "author-index",
                    "KeySchema": [["AttributeName": "author_id", "KeyType": "HASH"]],
                    "Projection": ["ProjectionType": "KEYS_ONLY"],
                ]
            ]
        }
        let stream: JSONValue? =
            hasStream
            ? ["StreamEnabled": true, "StreamViewType": "OLD_IMAGE"] : nil
        try server.call(
            "CreateTable",
            [
                "TableName": .string(prefix + table), "KeySchema": .array(schema),
                "AttributeDefinitions": .array(types), "BillingMode": "PAY_PER_REQUEST",
                "GlobalSecondaryIndexes": index, "StreamSpecification": stream,
            ]
        )
    }

    /// Writes an item of texts; a value in angle brackets is a number.
    func put(_ table: String, _ item: [String: String]) throws {
        let members = item.map { name, text -> JSONValue.Member in
            let isNumber = text.hasPrefix("<")
            return JSONValue.Member(
                name,
                isNumber
                    ? ["N": .string(String(text.dropFirst().dropLast()))] : ["S": .string(text)]
            )
        }
        try server.call(
            "PutItem",
            ["TableName": .string(prefix + table), "Item": .object(members)]
        )
    }

    /// All items as `name=value` texts, sorted.
    func items(_ table: String) throws -> [String] {
        var texts: [String] = []
        var start: JSONValue?
        repeat {
            let answer = try server.call(
                "Scan",
                ["TableName": .string(prefix + table), "ExclusiveStartKey": start]
            )
            for item in answer["Items"]?.array ?? [] {
                guard case .object(let members) = item else { continue }
                let pairs = members.map { member in
                    let value = member.value["S"]?.string ?? member.value["N"]?.string ?? "?"
                    return "\(member.name)=\(value)"
                }
                texts.append(pairs.sorted().joined(separator: " "))
            }
            start = answer["LastEvaluatedKey"]
        } while start != nil
        return texts.sorted()
    }

    func store(
        _ items: [String] = [],
        releases: [String] = [],
        trusts: Bool = true,
        pageSize: Int = 500,
        _ change: (inout DynamoDBKind) -> Void = { _ in },
        rest: @escaping @Sendable (Duration) async throws -> Void = { _ in }
    ) throws -> DynamoDBStore {
        let access = AWSAccess(
            endpoint: "https://localhost:\(server.port)",
            region: "us-east-1",
            accessKeyID: "owner",
            secretKeyCredential: "dynamodb-key",
            timeout: .seconds(120)
        )
        var settings = DynamoDBKind(
            access: access,
            tablePrefix: prefix,
            rules: try items.map { try ItemRule($0, releases: false) }
                + releases.map { try ItemRule($0, releases: true) }
        )
        change(&settings)
        let clock = StoreClock.patient(wall: FilesFixture.now(), rest: rest)
        let client = try AWSClient.patient(
            of: "dynamodb",
            at: access.endpoint,
            secret: "canary-dynamodb-77b0",
            caFile: trusts ? server.folder + "/cert.pem" : nil,
            now: clock.wall
        )
        return DynamoDBStore(
            StoreName("tables"),
            settings,
            client,
            clock: clock,
            pageSize: pageSize
        )
    }
}
