import Engine
import Lifecycle
import Synchronization
import TestSupport
import Testing

@testable import Stores

@Suite("A PostgreSQL store", .serialized) struct PostgreSQLStoreTests {
    static let schema = """
        CREATE TABLE users(id text PRIMARY KEY, email text);
        CREATE TABLE posts(id bigserial PRIMARY KEY, u text NOT NULL REFERENCES users,
            made timestamptz);
        CREATE TABLE likes(post bigint REFERENCES posts, u text REFERENCES users);
        CREATE INDEX ON posts(u); CREATE INDEX ON likes(u); CREATE INDEX ON likes(post);
        INSERT INTO users SELECT 'u' || i, 'u' || i || '@x' FROM generate_series(1, 20) i;
        INSERT INTO posts(u, made) SELECT id, '2025-01-01Z' FROM users, generate_series(1, 5);
        INSERT INTO likes SELECT p.id, p.u FROM posts p;
        """
    static let manyLikes = """
        INSERT INTO users VALUES ('x', '');
        INSERT INTO likes(post, u) SELECT NULL, 'x' FROM generate_series(1, 3000);
        """
    let users = TableRule(table: "users", column: "id", action: .delete)
    let posts = TableRule(table: "posts", column: "u", action: .delete)
    let likes = TableRule(table: "likes", column: "u", action: .delete)
    let done =
        "likes delete, cutoff: none 5; posts delete, cutoff: none 5; users delete, cutoff: none 1"
    let others = "SELECT md5(string_agg(t::text, ',' ORDER BY t::text)) FROM "

    @Test("children go before parents, other users stay, and a second pass finds nothing")
    func childrenFirst() async throws {
        let app = try PostgreSQLFixture(Self.schema)
        let before = try app.sql(others + "likes t WHERE u <> 'u7'")
        let store = app.store(users, posts, likes)
        #expect(await store.diagnose() == [])
        #expect(await store.verify([erase("u7")]) == [.remaining(11)])
        #expect(await store.purge([erase("u7")]).map(\.text) == [done])
        #expect(await store.verify([erase("u7"), erase("u8")]) == [.clean, .remaining(11)])
        #expect(try app.sql(others + "likes t WHERE u <> 'u7'") == before)
        #expect(try app.sql("SELECT count(*) FROM users") == ["19"])
        #expect(
            await store.purge([erase("u7")]).map(\.text)
                == [done.replacing(" 5", with: " 0").replacing(" 1", with: " 0")]
        )
    }

    @Test("users with few rows go in one transaction, and one with many in its own")
    func groups() async throws {
        let app = try PostgreSQLFixture(Self.schema + Self.manyLikes)
        let commits = Mutex<[String]>([])
        let store = PostgreSQLStore(
            plan: app.plan([users, posts, likes]),
            hasher: StandInHasher(),
            clock: .still(),
            beforeStatement: { sql in
                if sql == "COMMIT" { commits.withLock { $0.append(sql) } }
                return true
            }
        )
        let few = (1...20).map { "u\($0)" }
        let answers = await store.purge((few + ["x"] + few).map { erase($0) })
        #expect(answers.prefix(20).map(\.text) == Array(repeating: done, count: 20))
        #expect(answers[20].text.hasPrefix("likes delete, cutoff: none 3000"))
        #expect(commits.withLock(\.count) < 10)
        #expect(await store.verify((few + ["x"]).map { erase($0) }).allSatisfy { $0 == .clean })
    }

    @Test("a value is looked for in other spellings after the long purge of another user")
    func looksLate() async throws {
        let app = try PostgreSQLFixture(
            Self.schema + Self.manyLikes + "CREATE TABLE mails(address text);"
        )
        let rest: @Sendable (Duration) async throws -> Void = { _ in
            _ = try app.sql("INSERT INTO mails VALUES ('U1@X')")
        }
        var mails = TableRule(table: "mails", column: "address", action: .delete)
        mails.via = ParentColumn(table: "users", column: "email")
        let store = app.store(users, posts, likes, mails, clock: .still(rest: rest))
        let answers = await store.purge([erase("x"), erase("u1")])
        #expect(answers.map(\.text).last == "other_spelling", "\(answers)")
    }

    @Test("a row that another table holds back spoils only its own order")
    func constraint() async throws {
        let app = try PostgreSQLFixture(
            Self.schema
                + "CREATE TABLE guards(u text REFERENCES users); INSERT INTO guards VALUES ('u7')"
        )
        let answers = await app.store(users, posts, likes)
            .purge(["u6", "u7", "u8"].map { erase($0) })
        let guards = Obstacle(.foreignKey, at: "guards", name: "guards_u_fkey")
        #expect(answers[1] == .failure(.blocked(guards)))
        #expect(answers.map(\.text) == [done, "blocked_by_foreign_key", done])
        #expect(try app.sql("SELECT count(*) FROM posts WHERE u = 'u7'") == ["5"])
    }

    @Test(
        "each type of id matches one user and no other spelling",
        arguments: [
            ("text", IDType.text, "Ab", "Ab", "ab"),
            ("varchar(40)", .text, "Ab", "Ab", "ab"),
            ("public.citext", .text, "Ab", "Ab", "other"), ("char(8)", .text, "Ab", "Ab", "ab"),
            ("numeric", .integer, "42", "42", "42.5"),
            ("numeric(12,2)", .integer, "42", "42.00", "43"),
            ("integer", .integer, "42", "42", "43"),
            ("bigint", .integer, "42", "42", "43"),
            (
                "uuid", .uuid, "0b0e2a3c-0000-4000-8000-000000000001",
                "0b0e2a3c-0000-4000-8000-000000000001", "0b0e2a3c-0000-4000-8000-000000000002"
            ),
            ("bytea", .blob, "00ff", "\\x00ff", "\\x00fe"),
        ]
    )
    func types(type: String, idType: IDType, user: String, own: String, other: String) async throws
    {
        let app = try PostgreSQLFixture(
            "CREATE TABLE t(u \(type)); INSERT INTO t VALUES ('\(own)'), ('\(other)'), (NULL)"
        )
        let store = app.store(TableRule(table: "t", column: "u", idType: idType, action: .delete))
        #expect(await store.diagnose() == [])
        #expect(await store.purge([erase(user)]).map(\.text) == ["t delete, cutoff: none 1"])
        #expect(await store.verify([erase(user)]) == [.clean])
        #expect(try app.sql("SELECT count(*) FROM t WHERE u = '\(other)' OR u IS NULL") == ["2"])
    }

    @Test("masks replace values; equal ones stay equal, and a second pass changes nothing")
    func masks() async throws {
        let app = try PostgreSQLFixture(
            """
            CREATE TABLE t(u text, a text, b text, c public.citext, d text, e text, n int);
            INSERT INTO t SELECT 'x', 'a', 'same', 'c"\\', NULL, 'truncate me', 7
                FROM generate_series(1, 700);
            INSERT INTO t VALUES ('y', 'a', 'same', 'c', 'd', 'truncate me', 7);
            """
        )
        let masks: [ColumnMask] = [
            .init(column: "a", strategy: .null), .init(column: "b", strategy: .hash),
            .init(column: "c", strategy: .random), .init(column: "d", strategy: .hash),
            .init(column: "e", strategy: .truncate(length: 3)),
            .init(column: "n", strategy: .integer(0)),
        ]
        let store = app.store(
            TableRule(table: "t", column: "u", action: .anonymize(masks), reason: "tax")
        )
        #expect(await store.diagnose() == [])
        #expect(
            await store.purge([erase("x")]).map(\.text)
                == ["t anonymize: tax, cutoff: none 700"]
        )
        #expect(await store.verify([erase("x")]) == [.clean])
        let check = """
            SELECT count(DISTINCT b), count(DISTINCT c) = 700, count(a), count(d), max(e), max(n),
                bool_and(b ~ '^erased:[0-9a-f]{32}$' AND c::text ~ '^erased:') FROM t WHERE u =
            """
        #expect(try app.sql(check + "'x'") == ["1|t|0|0|tru*|0|t"])
        #expect(
            try app.sql("SELECT a, b, c, d, e, n FROM t WHERE u = 'y'") == [
                "a|same|c|d|truncate me|7"
            ]
        )
        #expect(
            await store.purge([erase("x")]).map(\.text)
                == ["t anonymize: tax, cutoff: none 0"]
        )
    }

    @Test("newer rows, those they refer to, and kept rows stay and are told")
    func cutoff() async throws {
        let app = try PostgreSQLFixture(
            """
            CREATE TABLE a(id int PRIMARY KEY, u text, made timestamptz);
            CREATE TABLE b(a int REFERENCES a ON DELETE CASCADE, u text, made bigint);
            CREATE TABLE k(u text);
            INSERT INTO a VALUES (1, 'x', '2025-01-01Z'), (2, 'x', '2027-01-01Z'), (3, 'x', NULL),
                (4, 'x', '2025-01-01Z'), (5, 'x', 'infinity');
            INSERT INTO b VALUES (4, 'x', 1800000000), (1, 'x', 1700000000);
            INSERT INTO k VALUES ('x');
            """
        )
        let store = app.store(
            TableRule(
                table: "a",
                column: "u",
                action: .delete,
                creation: CreationColumn(column: "made", unit: .timestamp)
            ),
            TableRule(
                table: "b",
                column: "u",
                action: .delete,
                creation: CreationColumn(column: "made", unit: .unixSeconds)
            ),
            TableRule(table: "k", column: "u", action: .keep, reason: "the law")
        )
        let found = await store.inspect(withOutages: true)
        let undated = found.advice.map(\.text).filter { $0.contains("is NULL in some rows") }
        #expect(found.problems == [] && undated.map { $0.contains("'a'") } == [true])
        guard case .items(let items) = await store.plan(erase("x")) else {
            Issue.record("no plan")
            return
        }
        #expect(
            items.map {
                "\($0.name) \($0.action) \($0.count)+\($0.newerCount), \($0.undatedCount) undated"
            }.sorted() == [
                "a delete 2+3, 1 undated", "b delete 1+1, 0 undated", "k keep 1+0, 0 undated",
            ]
        )
        #expect(items.first { $0.name == "k" }?.reason == "the law")
        let text = await store.purge([erase("x")]).map(\.text).first ?? ""
        #expect(text.contains("b delete 1+1") && text.contains("a delete 1+3"))
        #expect(text.contains("a delete, undated rows 1") && text.contains("k keep: the law 1"))
        #expect(try app.sql("SELECT id FROM a ORDER BY id") == ["2", "4", "5"])
        // Here it is the time of the request still, so what is newer lies in the future.
        let future = ["a", "b"].map {
            VerifyAnswer.failure(.blocked(Obstacle(.future, at: $0, name: "made")))
        }
        #expect(await store.verify([erase("x")]).allSatisfy(future.contains))
    }

    @Test(
        "a time without a fraction stands for its whole second, a date for its whole day",
        arguments: [
            ("date", CreationColumn.Unit.timestamp, "'2025-06-01'", "'2025-05-31'"),
            ("timestamptz", .timestamp, "'2025-06-01 00:00:00Z'", "'2025-05-31 23:59:59Z'"),
            ("timestamp", .timestamp, "'2025-06-01 00:00:00'", "'2025-06-01 00:00:00.4'"),
            ("bigint", .unixSeconds, "1748736000", "1748735999"),
            ("numeric", .unixSeconds, "1748736000", "1748736000.4"),
            ("float8", .unixSeconds, "1748736000", "1748736000.4"),
            ("bigint", .unixMilliseconds, "1748736000501", "1748736000500"),
        ]
    )
    func wholeTimes(
        type: String,
        unit: CreationColumn.Unit,
        later: String,
        earlier: String
    ) async throws {
        let app = try PostgreSQLFixture(
            """
            CREATE TABLE t(u text, made \(type)); CREATE INDEX ON t(u);
            INSERT INTO t VALUES ('x', \(later)), ('x', \(earlier));
            """
        )
        let creation = CreationColumn(column: "made", unit: unit)
        let store = app.store(
            TableRule(table: "t", column: "u", action: .delete, creation: creation)
        )
        let days =
            "column 'made' of table 't' holds days without a time of day: rows of the day of a"
            + " request count as newer and stay"
        let isDate = await store.inspect(withOutages: true).advice.map(\.text).contains(days)
        #expect(isDate == (type == "date"))
        let half = order("x", cutoff: WallTime(unixMilliseconds: 1_748_736_000_500))
        #expect(await store.purge([half]).map(\.text) == ["t delete 1+1"])
        #expect(await store.verify([half]) == [.clean])
        #expect(try app.sql("SELECT made = \(later) FROM t") == ["t"])
    }

    @Test("long values are masked a few at a time", arguments: [MaskStrategy.hash, .random])
    func longValues(strategy: MaskStrategy) async throws {
        let count = Bars.areHeld ? 60 : 12
        let app = try PostgreSQLFixture(
            """
            CREATE TABLE t(u text, a text, b text); CREATE INDEX ON t(u);
            INSERT INTO t SELECT 'x', repeat(md5(i::text), 65536), 'same'
                FROM generate_series(1, \(count)) i;
            INSERT INTO t SELECT 'x', NULL, 'same' FROM generate_series(1, 500) i;
            """
        )
        let masks = ["a", "b"].map { ColumnMask(column: $0, strategy: strategy) }
        let store = app.store(TableRule(table: "t", column: "u", action: .anonymize(masks)))
        let memory = try PeakMemory.whereHeld()
        let done = await store.purge([erase("x")]).map(\.text)
        #expect(done == ["t anonymize, cutoff: none \(count + 500)"])
        if let grown = try memory?.grownMebibytes() { #expect(grown <= 96) }
        #expect(await store.verify([erase("x")]) == [.clean])
        let distinct = "SELECT count(a), count(DISTINCT a), count(DISTINCT b) FROM t"
        let masked = strategy == .hash ? 1 : count + 500
        #expect(try app.sql(distinct) == ["\(count)|\(count)|\(masked)"])
    }

    @Test(
        "a newer row keeps what it refers to, by each of its keys",
        arguments: ["sender", "recipient"]
    )
    func severalKeys(column: String) async throws {
        let app = try PostgreSQLFixture(
            """
            CREATE TABLE p(id text PRIMARY KEY);
            CREATE TABLE m(sender text REFERENCES p ON DELETE CASCADE,
                recipient text REFERENCES p ON DELETE CASCADE, made timestamptz);
            INSERT INTO p VALUES ('x');
            INSERT INTO m(\(column), made) VALUES ('x', '2027-01-01Z');
            """
        )
        let store = app.store(
            TableRule(table: "p", column: "id", action: .delete),
            TableRule(
                table: "m",
                column: "sender",
                action: .delete,
                creation: CreationColumn(column: "made", unit: .timestamp)
            )
        )
        let text = await store.purge([erase("x")])[0].text
        #expect(text.hasSuffix("p delete, cutoff: none 0+1"))
        #expect(try app.sql("SELECT count(*) FROM m") == ["1"])
    }

    @Test(
        "a row of an inheriting table is not taken for one of its parent at the same place",
        arguments: [
            TableAction.delete, .anonymize([ColumnMask(column: "m", strategy: .text("-"))]),
            .anonymize([ColumnMask(column: "m", strategy: .random)]),
            .anonymize([ColumnMask(column: "o", strategy: .truncate(length: 1))]),
        ]
    )
    func inheritance(action: TableAction) async throws {
        let app = try PostgreSQLFixture(
            """
            CREATE TABLE p(u text, made timestamptz, m text, o text, i text);
            CREATE TABLE c() INHERITS (p); CREATE TABLE d() INHERITS (c);
            INSERT INTO p VALUES ('x', '2025-01-01Z', 'text', 'text', 'text');
            INSERT INTO c VALUES ('x', '2027-01-01Z', 'text', 'text', 'text');
            INSERT INTO d VALUES ('x', '2025-01-01Z', 'text', 'text', 'text');
            """
        )
        let store = app.store(
            TableRule(
                table: "p",
                column: "u",
                action: action,
                reason: "tax",
                creation: CreationColumn(column: "made", unit: .timestamp)
            )
        )
        #expect(await store.diagnose() == [])
        #expect(await store.purge([erase("x")])[0].text.hasSuffix(" 2+1"))
        #expect(try app.sql("SELECT u, m, o FROM ONLY c") == ["x|text|text"])
        let future = Obstacle(.future, at: "p", name: "made")
        #expect(await store.verify([erase("x")]) == [.failure(.blocked(future))])
        try app.sql("DELETE FROM ONLY c")
        #expect(await store.verify([erase("x")]) == [.clean])
        try app.sql("INSERT INTO c VALUES ('x', '2027-01-01Z', 'text', 'text', 'text')")
        let same = "SELECT count(*) FROM p WHERE (m, o, i) = ('text', 'text', 'text')"
        #expect(try app.sql(same) == ["1"])
    }

    @Test(
        "rows that others have locked are passed over, and verification says that they are locked",
        arguments: [1, 3]
    )
    func locked(count: Int) async throws {
        let app = try PostgreSQLFixture(Self.schema)
        let holder = try app.session()
        _ = try holder.query("BEGIN", within: .seconds(120))
        _ = try holder.query(
            "SELECT 1 FROM \(app.schema).likes WHERE u = 'u7' LIMIT \(count) FOR UPDATE",
            within: .seconds(120)
        )
        let store = app.store(likes)
        let first = await store.purge([erase("u7")]).map(\.text)
        #expect(first == ["likes delete, cutoff: none \(5 - count)"])
        let found = VerifyAnswer.failure(.blocked(Obstacle(locked: count, at: "likes")))
        #expect(await store.verify([erase("u7"), erase("u8")]) == [found, .remaining(5)])
        // A recheck asks whether data is there, whoever works with it.
        var recheck = erase("u7")
        recheck.erasedAt = recheck.cutoff
        #expect(await store.verify([recheck]) == [.remaining(count)])
        _ = try holder.query("ROLLBACK", within: .seconds(120))
        let second = await store.purge([erase("u7")]).map(\.text)
        #expect(second == ["likes delete, cutoff: none \(count)"])
        #expect(await store.verify([erase("u7")]) == [.clean])
    }

    @Test("rows that a trigger keeps are not taken for locked, whatever rows of others are")
    func keptByTrigger() async throws {
        let app = try PostgreSQLFixture(
            Self.schema + """
                CREATE FUNCTION keep() RETURNS trigger LANGUAGE plpgsql AS
                  $$ BEGIN RETURN NULL; END $$;
                CREATE TRIGGER keep BEFORE DELETE ON likes FOR EACH ROW EXECUTE FUNCTION keep();
                """
        )
        let holder = try app.session()
        _ = try holder.query("BEGIN", within: .seconds(120))
        _ = try holder.query(
            "SELECT 1 FROM \(app.schema).likes WHERE u = 'u8' FOR UPDATE",
            within: .seconds(120)
        )
        let store = app.store(likes)
        #expect(await store.purge([erase("u7")]).map(\.text) == ["likes delete, cutoff: none 0"])
        #expect(await store.verify([erase("u7")]) == [.remaining(5)])
        _ = try holder.query("ROLLBACK", within: .seconds(120))
    }

    @Test("a table with partitions is purged as one")
    func partitions() async throws {
        let app = try PostgreSQLFixture(
            """
            CREATE TABLE t(u text, n int, m text) PARTITION BY RANGE (n);
            CREATE TABLE t1 PARTITION OF t FOR VALUES FROM (0) TO (10);
            CREATE TABLE t2 PARTITION OF t FOR VALUES FROM (10) TO (20);
            INSERT INTO t SELECT u, i, 'm'
                FROM generate_series(0, 19) i, (VALUES ('x'), ('y')) v(u);
            """
        )
        let masking = app.store(
            TableRule(
                table: "t",
                column: "u",
                action: .anonymize([ColumnMask(column: "m", strategy: .random)]),
                reason: "tax"
            )
        )
        #expect(await masking.diagnose() == [])
        #expect(
            await masking.purge([erase("x")]).map(\.text)
                == ["t anonymize: tax, cutoff: none 20"]
        )
        #expect(try app.sql("SELECT count(*) FROM t WHERE m = 'm' AND u = 'y'") == ["20"])
        let store = app.store(TableRule(table: "t", column: "u", action: .delete))
        #expect(await store.purge([erase("x")]).map(\.text) == ["t delete, cutoff: none 20"])
        #expect(try app.sql("SELECT count(*) FROM t") == ["20"])
    }

    @Test("a connection that breaks before any statement leaves nothing half done")
    func cuts() async throws {
        let app = try PostgreSQLFixture(
            Self.schema + """
                INSERT INTO likes SELECT (SELECT min(id) FROM posts WHERE u = 'u1'), 'u7'
                    FROM generate_series(1, 3000);
                """
        )
        let before = try app.sql(others + "likes t WHERE u <> 'u7'")
        var cutCount = 0
        for cut in 1...200 {
            let count = Atomic<Int>(0)
            let cutter = app.store(users, posts, likes) { _ in
                count.wrappingAdd(1, ordering: .relaxed).newValue < cut
            }
            let answer = await cutter.purge([erase("u7")])
            let left = try app.sql("SELECT count(*) FROM likes WHERE u = 'u7'")
            let verdict = await app.store(users, posts, likes).verify([erase("u7")])
            let rest = try app.sql(usersLeft)
            #expect((verdict == [.clean]) == (left == ["0"] && rest == ["0"]))
            if case .done = answer.first, verdict == [.clean], count.load(ordering: .relaxed) < cut
            {
                break
            }
            cutCount += 1
        }
        #expect(cutCount > 10)
        #expect(try app.sql(others + "likes t WHERE u <> 'u7'") == before)
        #expect(try app.sql("SELECT count(*) FROM users") == ["19"])
    }

    private let usersLeft =
        "SELECT (SELECT count(*) FROM users WHERE id = 'u7') + (SELECT count(*) FROM posts"
        + " WHERE u = 'u7')"

    @Test("a cancelled purge ends at once and leaves no statement running")
    func cancellation() async throws {
        let app = try PostgreSQLFixture(Self.schema)
        let holder = try app.session()
        _ = try holder.query("BEGIN", within: .seconds(120))
        _ = try holder.query("LOCK TABLE \(app.schema).likes", within: .seconds(120))
        let (started, begin) = AsyncStream<Void>.makeStream()
        let store = app.store(likes) { sql in
            if sql.contains("likes") { begin.yield() }
            return true
        }
        let purge = Task { await store.purge([erase("u7")]) }
        for await _ in started { break }
        purge.cancel()
        let took = await ContinuousClock().measure {
            #expect(await purge.value == [.failure(.lost)])
        }
        if Bars.areHeld { #expect(took < .seconds(10)) }
        // The server deals with the cancelling in its own time: it is asked for two minutes.
        let waiting = """
            SELECT count(*) FROM pg_stat_activity WHERE application_name = 'expunged'
                AND wait_event_type = 'Lock' AND query LIKE '%\(app.schema)%'
            """
        try app.sql(
            """
            DO $$ BEGIN FOR i IN 1..2400 LOOP
                EXIT WHEN (\(waiting)) = 0;
                PERFORM pg_sleep(0.05), pg_stat_clear_snapshot();
            END LOOP; END $$
            """
        )
        #expect(try app.sql(waiting) == ["0"])
        _ = try holder.query("ROLLBACK", within: .seconds(120))
    }

    @Test("a lock that is held is back-pressure")
    func busy() async throws {
        let app = try PostgreSQLFixture(Self.schema)
        let holder = try app.session()
        _ = try holder.query("BEGIN", within: .seconds(120))
        _ = try holder.query("LOCK TABLE \(app.schema).likes", within: .seconds(120))
        let hasty = app.store(
            app.plan([likes], timeouts: (.seconds(300), .milliseconds(100)))
        )
        var hindered = erase("u7")
        let gate = PurgeGate()
        hindered.gate = gate
        #expect(await hasty.purge([hindered]) == [.failure(.throttled(retryAfter: nil))])
        #expect(gate.reason == "another transaction holds a lock, SQLSTATE 55P03")
        _ = try holder.query("ROLLBACK", within: .seconds(120))
        let store = app.store(likes)
        #expect(await store.purge([erase("u7")]).map(\.text) == ["likes delete, cutoff: none 5"])
    }
}

/// The order to erase a user.
private func erase(_ user: String) -> PurgeOrder { order(user) }
