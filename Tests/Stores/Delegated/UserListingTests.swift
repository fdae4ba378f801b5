import Encoding
import Engine
import HTTP
import Lifecycle
import Synchronization
import Testing

@testable import Stores

/// Answers from a list, and keeps what was asked.
private final class ScriptedDelegate: PurgeDelegate {
    let concurrency = 1
    private let replies: Mutex<[ObjectReply]>
    private let asked = Mutex<[DelegatedQuestion]>([])

    init(_ replies: [ObjectReply]) { self.replies = Mutex(replies) }

    convenience init(_ texts: String...) {
        self.init(texts.map { JSONValue(Array($0.utf8)).map { .answer($0) } ?? .failure(.lost) })
    }

    var questions: [DelegatedQuestion] { asked.withLock { $0 } }

    /// The last answer is given for ever.
    func ask(_ question: DelegatedQuestion) async -> ObjectReply {
        asked.withLock { $0.append(question) }
        return replies.withLock { $0.count > 1 ? $0.removeFirst() : $0[0] }
    }

    func advice(_ failure: EffectFailure) -> String { "" }
    func shutdown() async {}
}

@Suite("Users that a program or service tells")
struct UserListingTests {
    private static func users(
        _ delegate: ScriptedDelegate,
        clock: StoreClock = GoogleBench.clock(),
        where isWanted: @escaping @Sendable (UserID) -> Bool = { _ in true }
    ) async -> String {
        let store = DelegatedStore(name: StoreName("crm"), delegate: delegate, clock: clock)
        switch await store.users(where: isWanted) {
        case .found(let users):
            return users.map { $0.exposeText() }.sorted().joined(separator: ",")
        case .unknown(let why): return "unknown: \(why)"
        case .failure(let failure): return "failure: \(failure.code)"
        }
    }

    @Test("pages are followed by their cursor, repeated ids count once, unwanted ones not at all")
    func pages() async throws {
        let delegate = ScriptedDelegate(
            #"{"outcome":"listed","users":["ann","bob","ann"],"next":"c \"1\""}"#,
            #"{"outcome":"listed","users":[],"next":"c2"}"#,
            #"{"outcome":"listed","users":["bob","carl","","no\u0007id"],"next":null}"#
        )
        let found = await Self.users(delegate) { $0.exposeText() != "carl" }
        #expect(found == "ann,bob")
        let bodies = delegate.questions.compactMap { JSONValue($0.body.bytes) }
        #expect(bodies.map { $0["after"]?.string } == [nil, "c \"1\"", "c2"])
        #expect(bodies.allSatisfy { $0["operation"]?.string == "users" && $0["user_id"] == nil })
        #expect(Set(delegate.questions.map(\.idempotencyKey)).count == 3)
    }

    @Test(
        "what does not know the question lists nothing, and says so",
        arguments: [
            #"{"outcome":"unsupported"}"#, #"{"outcome":"ok"}"#, #"{"outcome":"purged"}"#,
            #"{"error":"unknown operation"}"#, "{}",
        ]
    )
    func unsupported(answer: String) async {
        #expect(await Self.users(ScriptedDelegate(answer)).hasPrefix("unknown: the program"))
    }

    @Test("a service that refuses the question, or is away, is told apart")
    func refusals() async {
        let refused = await Self.users(ScriptedDelegate([.failure(.unusable)]))
        #expect(refused.hasPrefix("unknown"))
        let away = await Self.users(ScriptedDelegate([.failure(.unreachable)]))
        #expect(away == "failure: \(EffectFailure.unreachable.code)")
        let busy = await Self.users(ScriptedDelegate(#"{"outcome":"throttled"}"#))
        #expect(busy == "failure: \(EffectFailure.throttled(retryAfter: nil).code)")
    }

    @Test(
        "a malformed page, and one in the middle that is none, is no list",
        arguments: [
            #"{"outcome":"listed"}"#, #"{"outcome":"listed","users":"ann"}"#,
            #"{"outcome":"listed","users":["ann",7]}"#,
            #"{"outcome":"listed","users":["ann"],"next":7}"#,
            #"{"outcome":"listed","users":["ann"],"next":""}"#,
            #"{"outcome":"listed","users":["ann"],"next":"c1"}"#,
            #"{"outcome":"listed","users":[],"next":"\#(String(repeating: "x", count: 1025))"}"#,
            #"{"outcome":"listed","users":[\#(String(repeating: #""u","#, count: 1000))"u"]}"#,
            #"{"outcome":"unsupported"}"#, #"{"outcome":"ok"}"#,
        ]
    )
    func malformed(answer: String) async {
        let first = #"{"outcome":"listed","users":["bob"],"next":"c1"}"#
        let found = await Self.users(ScriptedDelegate(first, answer))
        #expect(found == "failure: \(EffectFailure.unusable.code)")
    }

    @Test("a listing without an end stops after an hour, and rests between its pages")
    func endless() async {
        let passed = Mutex(Duration.zero)
        let rests = Mutex<[Duration]>([])
        let clock = StoreClock(
            wall: { GoogleBench.now },
            uptime: {
                passed.withLock { passed in
                    passed += .seconds(5)
                    return passed
                }
            },
            rest: { rest in rests.withLock { $0.append(rest) } },
            entropy: { 0 }
        )
        // Two pages in turn.
        let pages = (0..<1000).map { number in
            let text = #"{"outcome":"listed","users":["ann"],"next":"\#(number % 2)"}"#
            return JSONValue(Array(text.utf8)).map { ObjectReply.answer($0) } ?? .failure(.lost)
        }
        let delegate = ScriptedDelegate(pages)
        #expect(await Self.users(delegate, clock: clock).hasPrefix("unknown: there are more"))
        #expect((300...400).contains(delegate.questions.count))
        #expect(rests.withLock { $0.allSatisfy { $0 == .seconds(1) } && !$0.isEmpty })
    }
}
