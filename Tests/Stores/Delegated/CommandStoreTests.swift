import Engine
import Foundation
import HTTP
import Lifecycle
import Programs
import Testing

@testable import Stores

@Suite("A program of the operator's own")
struct CommandStoreTests {
    /// Keeps rows in a file of lines `USER NUMBER`; dies once in mid purge when FILE.die exists.
    private static let eraser = #"""
        read -r question
        file=$1
        user=$(printf %s "$question" | sed -n 's/.*"user_id":"\([^"]*\)".*/\1/p')
        count=$(grep -c "^$user " "$file")
        case $question in
        *'"operation":"purge"'*)
            if [ -e "$file.die" ]; then
                rm "$file.die"; sed -i "0,/^$user /{/^$user /d}" "$file"; kill -9 $$
            fi
            sed -i "/^$user /d" "$file"
            echo "{\"outcome\":\"purged\",\"entries\":[{\"name\":\"rows\",\"count\":$count}]}" ;;
        *'"operation":"verify"'*)
            if [ "$count" = 0 ]; then echo '{"outcome":"clean"}'
            else echo "{\"outcome\":\"remaining\",\"count\":$count}"; fi ;;
        *'"operation":"diagnose"'*) echo '{"outcome":"ok"}' ;;
        *) echo '{"outcome":"unsupported"}' ;;
        esac
        """#

    private static func store(
        _ script: String,
        _ arguments: [String] = [],
        memoryMax: Int = 256 << 20,
        copy: String? = nil
    ) throws -> DelegatedStore {
        try store(
            program: "/bin/sh",
            ["-c", script, "sh"] + arguments,
            memoryMax: memoryMax,
            copy: copy
        )
    }

    static func store(
        program: String,
        _ arguments: [String],
        memoryMax: Int = 256 << 20,
        copy: String? = nil
    ) throws -> DelegatedStore {
        let runner = ProgramRunner(
            program: program,
            arguments: arguments,
            timeout: .seconds(300),
            memoryMax: memoryMax,
            sleep: { _ in try await BootClock.sleepForever() }
        )
        return DelegatedStore(
            name: StoreName("crm"),
            delegate: CommandDelegate(runner: try #require(runner)),
            clock: GoogleBench.clock(),
            copy: copy
        )
    }

    private static func saying(_ answer: String) throws -> DelegatedStore {
        try store(#"cat >/dev/null; printf '%s' "$1""#, [answer])
    }

    @Test("a program is not asked for a user whose order is stopped")
    func stopped() async throws {
        let store = try Self.saying(#"{"outcome":"purged","entries":[]}"#)
        let gate = PurgeGate()
        var order = try FilesFixture.order("ann")
        order.gate = gate
        #expect(await store.purge([order]) == [.done(PurgeCounts())])
        gate.close(for: [order.request])
        let other = try FilesFixture.order("bob")
        #expect(await store.purge([order, other]) == [.stopped, .done(PurgeCounts())])
    }

    @Test("a program that dies in mid purge is asked again; others' rows stay")
    func killed() async throws {
        let file = NSTemporaryDirectory() + "expunged-\(UUID().uuidString)"
        let text = "ann 1\nbob 1\nann 2\nbob 2\nann 3\n"
        try Data(text.utf8).write(to: URL(fileURLWithPath: file))
        try Data().write(to: URL(fileURLWithPath: file + ".die"))
        defer { _ = unsafe unlink(file) }
        let store = try Self.store(Self.eraser, [file])
        let order = try FilesFixture.order("ann")
        #expect(await store.diagnose() == [])
        #expect(await store.plan(order) == .unknown)
        guard case .unknown = await store.users(where: { _ in true }) else {
            Issue.record("listed by a program that does not know the question")
            return
        }
        #expect(await store.verify([order]) == [.remaining(3)])
        #expect(await store.purge([order]) == [.failure(.lost)])
        #expect(await store.verify([order]) == [.remaining(2)])
        let entry = PurgeCounts.Entry(name: "rows", action: .rule(.delete), rowCount: 2)
        #expect(await store.purge([order]) == [.done(PurgeCounts(entries: [entry]))])
        #expect(await store.verify([order]) == [.clean])
        #expect(try String(contentsOfFile: file, encoding: .utf8) == "bob 1\nbob 2\n")
    }

    @Test("a drill is another operation: what knows no copies leaves the store alone")
    func drillUnknown() async throws {
        let file = NSTemporaryDirectory() + "expunged-\(UUID().uuidString)"
        try Data("ann 1\n".utf8).write(to: URL(fileURLWithPath: file))
        defer { _ = unsafe unlink(file) }
        let store = try Self.store(Self.eraser, [file], copy: "restored")
        #expect(await store.diagnose().first?.contains("'drill'") == true)
        let order = try FilesFixture.order("ann")
        #expect(await store.purge([order]) == [.failure(.unusable)])
        #expect(try String(contentsOfFile: file, encoding: .utf8) == "ann 1\n")
    }

    @Test("a drill has the program work in the copy that it is told")
    func drill() async throws {
        let script = #"""
            read -r question
            case $question in
            *'"operation":"drill"'*'"copy":"restored"'*) file=$1.restored ;;
            *'"operation":"drill"'*)
                echo '{"outcome":"problems","problems":["no such copy"]}'; exit ;;
            *) file=$1 ;;
            esac
            question=$(printf %s "$question" | sed 's/"operation":"drill"//; s/"step"/"operation"/')
            sh -c "$2" sh "$file" <<END
            $question
            END
            """#
        let file = NSTemporaryDirectory() + "expunged-\(UUID().uuidString)"
        for name in [file, file + ".restored"] {
            try Data("ann 1\nbob 1\n".utf8).write(to: URL(fileURLWithPath: name))
        }
        defer { for name in [file, file + ".restored"] { _ = unsafe unlink(name) } }
        let order = try FilesFixture.order("ann")
        let elsewhere = try Self.store(script, [file, Self.eraser], copy: "elsewhere")
        #expect(await elsewhere.diagnose() == ["no such copy"])
        let copy = try Self.store(script, [file, Self.eraser], copy: "restored")
        #expect(await copy.diagnose() == [])
        #expect(await copy.verify([order]) == [.remaining(1)])
        let entry = PurgeCounts.Entry(name: "rows", action: .rule(.delete), rowCount: 1)
        #expect(await copy.purge([order]) == [.done(PurgeCounts(entries: [entry]))])
        #expect(await copy.verify([order]) == [.clean])
        #expect(try String(contentsOfFile: file + ".restored", encoding: .utf8) == "bob 1\n")
        #expect(try String(contentsOfFile: file, encoding: .utf8) == "ann 1\nbob 1\n")
    }

    @Test("an answer that is kept for a key is never one about another copy")
    func drillKeys() throws {
        let order = try FilesFixture.order("ann")
        let page = DelegatedQuestion.Page(key: "1", after: nil)
        let drills: [DelegatedQuestion.Drill?] = [
            nil, DelegatedQuestion.Drill(copy: "restored", key: "a"),
            DelegatedQuestion.Drill(copy: "restored", key: "b"),
        ]
        let keys = drills.flatMap { drill in
            [
                DelegatedQuestion(.purge, of: "crm", order, in: drill, look: nil),
                DelegatedQuestion(usersOf: "crm", page, in: drill),
            ].map(\.idempotencyKey)
        }
        #expect(Set(keys).count == 6)
    }

    @Test("a purge keeps its key at every try, a replay and a look have others")
    func keys() throws {
        let order = try FilesFixture.order("ann")
        var again = order
        again.attempt = "r"
        let keys = [(order, nil), (order, nil), (again, nil), (order, "1"), (order, "2")].map {
            DelegatedQuestion(.purge, of: "crm", $0.0, in: nil, look: $0.1).idempotencyKey
        }
        #expect(keys[0] == keys[1])
        #expect(Set(keys).count == 4)
    }

    @Test("a program that tells the same in another order has the same plan")
    func planOrder() async throws {
        let script = #"""
            cat >/dev/null
            one='{"name":"posts","count":3}' two='{"name":"likes","count":1}'
            again='{"name":"posts","action":"keep","reason":"tax","count":2}'
            mkdir "$1" 2>/dev/null && list="$one,$two,$again" || list="$again,$two,$one"
            echo "{\"outcome\":\"planned\",\"entries\":[$list]}"
            """#
        let seen = NSTemporaryDirectory() + "expunged-\(UUID().uuidString)"
        defer { _ = unsafe rmdir(seen) }
        let store = try Self.store(script, [seen])
        let order = try FilesFixture.order("ann")
        let first = await store.plan(order)
        #expect(await store.plan(order) == first)
        let expected = [
            PlanItem(name: "likes", action: .delete, count: 1),
            PlanItem(name: "posts", action: .delete, count: 3),
            PlanItem(name: "posts", action: .keep, reason: "tax", count: 2),
        ]
        #expect(first == .items(expected))
    }

    @Test("a program gets no more memory than it may have")
    func memory() async throws {
        let script = #"""
            cat >/dev/null
            exec python3 -c 'x = bytearray(150 << 20); print("{\"outcome\":\"purged\"}")'
            """#
        let order = try FilesFixture.order("ann")
        let ample = try Self.store(script, memoryMax: 400 << 20)
        #expect(await ample.purge([order]) == [.done(PurgeCounts())])
        let tight = try Self.store(script, memoryMax: 100 << 20)
        #expect(await tight.purge([order]) == [.failure(.lost)])
    }

    private static let answers: [(String, PurgeAnswer)] = [
        (#"{"outcome":"purged"}"#, .done(PurgeCounts())),
        (
            #"{"outcome":"purged","entries":[{"name":"a","action":"keep","count":0,"#
                + #""newer_count":2}]}"#,
            .done(
                PurgeCounts(entries: [
                    PurgeCounts.Entry(name: "a", action: .rule(.keep), rowCount: 0, newerCount: 2)
                ])
            )
        ),
        (#"{"outcome":"purged","entries":[{"name":"a"}]}"#, .failure(.unusable)),
        (#"{"outcome":"purged","entries":[{"name":"a","count":-1}]}"#, .failure(.unusable)),
        (#"{"outcome":"purged","entries":[{"name":"a","count":1.5}]}"#, .failure(.unusable)),
        (#"{"outcome":"purged","entries":[{"name":"a","count":1e300}]}"#, .failure(.unusable)),
        (#"{"outcome":"purged","entries":[{"name":"x\ny","count":1}]}"#, .failure(.unusable)),
        (
            #"{"outcome":"purged","entries":[{"name":"rows of ann-0123","count":1}]}"#,
            .failure(.unusable)
        ),
        (#"{"outcome":"purged","entries":{}}"#, .failure(.unusable)),
        (
            #"{"outcome":"purged","residual_copies":[{"text":"x","until":"later"}]}"#,
            .failure(.unusable)
        ),
        (#"{"outcome":"clean"}"#, .failure(.unusable)),
        (
            #"{"outcome":"working","retry_after_s":60}"#,
            .failure(.throttled(retryAfter: .seconds(60)))
        ),
        (#"{"outcome":"misconfigured"}"#, .failure(.misconfigured)),
        (#"{"outcome":"unknown"}"#, .failure(.lost)),
        ("purged", .failure(.unusable)),
    ]

    @Test("only a well-formed answer is believed", arguments: answers)
    func answer(_ text: String, _ answer: PurgeAnswer) async throws {
        let order = try FilesFixture.order("ann-0123")
        #expect(await (try Self.saying(text)).purge([order]) == [answer])
    }

    @Test(
        "a count that is none is no proof of anything",
        arguments: [
            #"{"outcome":"remaining"}"#, #"{"outcome":"remaining","count":0}"#,
            #"{"outcome":"purged"}"#, "{}",
        ]
    )
    func verification(_ text: String) async throws {
        let order = try FilesFixture.order("ann")
        #expect(await (try Self.saying(text)).verify([order]) == [.failure(.unusable)])
    }

    @Test("what a program says about itself is shown; a failed one is no startup problem")
    func diagnosis() async throws {
        let told = try Self.saying(#"{"outcome":"problems","problems":["no key for the CRM"]}"#)
        #expect(await told.startupProblems() == ["no key for the CRM"])
        let failed = try Self.store("exit 1")
        #expect(await failed.startupProblems() == [])
        #expect(await failed.diagnose().count == 1)
        #expect(await (try Self.store("exit 78")).startupProblems().count == 1)
    }
}
