import FoundationEssentials
import Lifecycle
import Logging
import NIOCore
import NIOHTTP1
import NIOPosix
import Synchronization
import Testing

@testable import HTTP

@Suite("An answer that is read as it comes") struct BodyStreamTests {
    private final class Taken: Sendable {
        let text = Mutex("")
        var count: Int { text.withLock { $0.utf8.count } }
    }

    /// A machine that is held up for the whole of one gets the next one.
    private static let limits: [Duration] = [
        .milliseconds(1750), .seconds(7), .seconds(28), .seconds(112),
    ]

    private static func outcome(
        of reaction: RawServer.Reaction,
        max: Int = 1 << 20,
        within limit: Duration = .seconds(120),
        _ taken: Taken
    ) async throws -> RemoteOutcome {
        try await RawServer.with(answering: reaction) { server in
            var settings = RemoteSettings(
                owner: .store(StoreName("tree")),
                allowsPlainLoopback: true
            )
            settings.answerMax = 10
            settings.timeoutConnect = .seconds(120)
            settings.timeoutTotal = limit
            let client = try RemoteClient(
                settings,
                eventLoopGroup: MultiThreadedEventLoopGroup.singleton,
                logger: Logger(label: "test")
            )
            let base = try RemoteBaseURL("http://127.0.0.1:\(server.port)", settings)
            var request = RemoteRequest(try RemoteEndpoint(base, path: "/", method: .GET))
            request.stream = BodyStream(max: max) { part in
                taken.text.withLock { $0 += String(decoding: part, as: UTF8.self) }
            }
            let outcome = await client.send(request)
            await client.shutdown()
            return outcome
        }
    }

    private static func parts(_ count: Int) -> [[UInt8]] {
        [Array("HTTP/1.1 200 OK\r\nContent-Length: \(count * 5)\r\n\r\n".utf8)]
            + (0..<count).map { _ in Array("part ".utf8) }
    }

    @Test("it may be larger than others, and has no end of time as long as it comes")
    func comes() async throws {
        for limit in Self.limits {
            let taken = Taken()
            // The head and eight parts take longer than the limit.
            let pause = TimeAmount.milliseconds(limit.milliseconds / 7)
            let reaction = RawServer.Reaction.slowly(Self.parts(8), pause: pause)
            let outcome = try await Self.outcome(of: reaction, within: limit, taken)
            guard case .reply(let reply) = outcome else { continue }
            #expect(reply.status == 200 && reply.body.isEmpty)
            #expect(taken.count == 40)
            return
        }
        Issue.record("lost within each of \(Self.limits)")
    }

    @Test("one that stops coming is lost, as is one that is cut off")
    func stops() async throws {
        let silent = RawServer.Reaction.slowly(Array(Self.parts(8).dropLast()), pause: .zero)
        var takenCount = 0
        for limit in Self.limits where takenCount != 35 {
            let begun = ContinuousClock.now
            let taken = Taken()
            let outcome = try await Self.outcome(of: silent, within: limit, taken)
            if case .unsent = outcome { continue }
            guard case .lost = outcome else {
                Issue.record("\(outcome) within \(limit)")
                return
            }
            #expect(begun.duration(to: .now) >= limit)
            takenCount = taken.count
        }
        #expect(takenCount == 35)
        let cut = RawServer.Reaction.bytesThenClose(Self.parts(8).dropLast().flatMap { $0 })
        guard case .lost = try await Self.outcome(of: cut, Taken()) else {
            Issue.record("not lost")
            return
        }
    }

    @Test("one that is too large, told or not, is refused", arguments: [true, false])
    func large(isTold: Bool) async throws {
        let taken = Taken()
        let head = isTold ? "Content-Length: 40" : "Transfer-Encoding: chunked"
        let text = String(repeating: "part ", count: 8)
        let body = isTold ? text : "28\r\n\(text)\r\n0\r\n\r\n"
        let bytes = Array("HTTP/1.1 200 OK\r\n\(head)\r\n\r\n\(body)".utf8)
        let outcome = try await Self.outcome(of: .bytes(bytes), max: 39, taken)
        guard case .oversized = outcome else {
            Issue.record("\(outcome)")
            return
        }
        #expect(taken.count < 40)
    }

    @Test("the body of a failure is kept, as always")
    func failure() async throws {
        let taken = Taken()
        let outcome = try await Self.outcome(of: .json(400, "{}"), taken)
        guard case .reply(let reply) = outcome else {
            Issue.record("\(outcome)")
            return
        }
        #expect(reply.body == Array("{}".utf8) && taken.count == 0)
        guard case .oversized = try await Self.outcome(of: .json(400, "[1,2,3,4,5,6]"), taken)
        else {
            Issue.record("too large")
            return
        }
    }
}
