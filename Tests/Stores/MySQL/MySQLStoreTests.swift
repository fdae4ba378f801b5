import Engine
import Lifecycle
import Synchronization
import TestSupport
import Testing

@testable import Stores

@Suite("A MySQL store", .serialized) struct MySQLStoreTests {
    static let schema = """
        CREATE TABLE users(id varchar(40) PRIMARY KEY, email text);
        CREATE TABLE posts(id bigint AUTO_INCREMENT PRIMARY KEY, u varchar(40) NOT NULL,
            made datetime, FOREIGN KEY (u) REFERENCES users(id));
        CREATE TABLE likes(post bigint, u varchar(40), FOREIGN KEY (post) REFERENCES posts(id),
            FOREIGN KEY (u) REFERENCES users(id), id int AUTO_INCREMENT PRIMARY KEY);
        INSERT INTO users SELECT concat('u', seq), concat('u', seq, '@x') FROM seq_1_to_20;
        INSERT INTO posts(u, made) SELECT id, '2025-01-01' FROM users, seq_1_to_5;
        INSERT INTO likes(post, u) SELECT id, u FROM posts;
        """
    static let manyLikes = """
        INSERT INTO users VALUES ('x', '');
        INSERT INTO likes(post, u) SELECT NULL, 'x' FROM seq_1_to_3000;
        """
    let users = TableRule(table: "users", column: "id", action: .delete)
    let posts = TableRule(table: "posts", column: "u", action: .delete)
    let likes = TableRule(table: "likes", column: "u", action: .delete)
    let done =
        "likes delete, cutoff: none 5; posts delete, cutoff: none 5; users delete, cutoff: none 1"
    let others = "SELECT md5(group_concat(post, u, id ORDER BY id)) FROM likes WHERE u <> 'u7'"

    @Test("children go before parents, other users stay, and a second pass finds nothing")
    func childrenFirst() async throws {
        let app = try MySQLFixture(Self.schema)
        let before = try app.sql(others)
        let store = app.store(users, posts, likes)
        #expect(await store.diagnose() == [])
        #expect(await store.verify([erase("u7")]) == [.remaining(11)])
        #expect(await store.purge([erase("u7")]).map(\.text) == [done])
        #expect(await store.verify([erase("u7"), erase("u8")]) == [.clean, .remaining(11)])
        #expect(try app.sql(others) == before)
        #expect(try app.sql("SELECT count(*) FROM users") == ["19"])
        #expect(
            await store.purge([erase("u7")]).map(\.text)
                == [done.replacing(" 5", with: " 0").replacing(" 1", with: " 0")]
        )
    }

    @Test("users with few rows go in one transaction, and one with many in its own")
    func groups() async throws {
        let app = try MySQLFixture(Self.schema + Self.manyLikes)
        let commits = Mutex<[String]>([])
        let store = MySQLStore(
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

    @Test("a row that another table holds back spoils only its own order")
    func constraint() async throws {
        let app = try MySQLFixture(
            Self.schema + """
                CREATE TABLE guards(u varchar(40), CONSTRAINT `a``b` FOREIGN KEY (u)
                    REFERENCES users(id)); INSERT INTO guards VALUES ('u7');
                """
        )
        let answers = await app.store(users, posts, likes)
            .purge(["u6", "u7", "u8"].map { erase($0) })
        let guards = Obstacle(.foreignKey, at: "guards", name: "a`b")
        #expect(answers[1] == .failure(.blocked(guards)))
        #expect(answers.map(\.text) == [done, "blocked_by_foreign_key", done])
        #expect(try app.sql("SELECT count(*) FROM posts WHERE u = 'u7'") == ["5"])
    }

    @Test("tables without a key, with one of several columns, and in several sets of characters")
    func keys() async throws {
        let app = try MySQLFixture(
            """
            CREATE TABLE bare(u varchar(40) CHARACTER SET latin1, n int, KEY (u));
            CREATE TABLE pair(a varchar(20) COLLATE utf8mb4_general_ci, b datetime(3),
                c decimal(30,3), u char(36) CHARACTER SET ascii, PRIMARY KEY (a, b, c), KEY (u));
            CREATE TABLE big(id bigint unsigned PRIMARY KEY, u varbinary(40), KEY (u));
            INSERT INTO bare SELECT elt(seq % 3 + 1, 'x', 'y', NULL), seq FROM seq_1_to_9;
            INSERT INTO pair SELECT concat('K', seq), '2025-01-01 00:00:00.123',
                12345678901234567890.125, if(seq % 2, 'x', 'y') FROM seq_1_to_2500;
            INSERT INTO big VALUES (18446744073709551615, 'x'), (18446744073709551614, 'y');
            """
        )
        let store = app.store(
            TableRule(table: "bare", column: "u", action: .delete),
            TableRule(table: "pair", column: "u", action: .delete),
            TableRule(table: "big", column: "u", action: .delete)
        )
        #expect(await store.diagnose() == [])
        let text = await store.purge([erase("x")]).map(\.text)
        #expect(
            text == [
                "bare delete, cutoff: none 3; pair delete, cutoff: none 1250;"
                    + " big delete, cutoff: none 1"
            ]
        )
        #expect(await store.verify([erase("x"), erase("y")]) == [.clean, .remaining(1254)])
        // Not in the set of characters of any of these columns.
        #expect(await store.purge([erase("日本")])[0].text.hasSuffix("none 0"))
        #expect(await store.verify([erase("日本")]) == [.clean])
        #expect(try app.sql("SELECT id FROM big") == ["18446744073709551614"])
    }

    @Test(
        "each type of id matches one user and no other spelling",
        arguments: [
            ("varchar(40) COLLATE utf8mb4_general_ci", IDType.text, "Ab", "'Ab'", "'ab'"),
            ("varchar(40) COLLATE utf8mb4_general_ci", .text, "Ab", "'Ab'", "'Ab '"),
            ("varchar(40) COLLATE utf8mb4_bin", .text, "Ab", "'Ab'", "'Ab '"),
            ("varchar(40) COLLATE utf8mb4_unicode_ci", .text, "cafe", "'cafe'", "'café'"),
            ("varchar(40) CHARACTER SET latin1", .text, "é", "'é'", "'e'"),
            ("varbinary(40)", .text, "Ab", "'Ab'", "'ab'"),
            ("text", .text, "42", "'42'", "'42.0'"),
            ("int", .integer, "42", "42", "43"), ("int zerofill", .integer, "42", "42", "43"),
            ("bigint unsigned", .integer, "42", "42", "18446744073709551615"),
            ("bigint", .integer, "-1", "-1", "1"), ("decimal(20)", .integer, "42", "42", "43"),
            (
                "uuid", .uuid, "0b0e2a3c-0000-4000-8000-000000000001",
                "'0b0e2a3c-0000-4000-8000-000000000001'", "'0b0e2a3c-0000-4000-8000-000000000002'"
            ),
            (
                "binary(16)", .blob, "0b0e2a3c-0000-4000-8000-000000000001",
                "x'0b0e2a3c000040008000000000000001'", "x'0b0e2a3c000040008000000000000002'"
            ),
            ("varbinary(16)", .blob, "00ff", "x'00ff'", "x'00fe'"),
        ]
    )
    func types(type: String, idType: IDType, user: String, own: String, other: String) async throws
    {
        let app = try MySQLFixture(
            """
            CREATE TABLE t(u \(type), n int, KEY (u(8)));
            INSERT INTO t VALUES (\(own), 1), (\(other), 2), (NULL, 3)
            """
            .replacing("(u(8))", with: type == "text" ? "(u(8))" : "(u)")
        )
        let store = app.store(TableRule(table: "t", column: "u", idType: idType, action: .delete))
        #expect(await store.diagnose() == [])
        #expect(await store.purge([erase(user)]).map(\.text) == ["t delete, cutoff: none 1"])
        let isOther = await store.verify([erase(user)])
        let alike = Obstacle(.spelling, at: "t", name: "u")
        #expect(isOther == [.clean] || isOther == [.failure(.blocked(alike))])
        #expect(try app.sql("SELECT n FROM t ORDER BY n") == ["2", "3"])
    }

    @Test("masks replace values; equal ones stay equal, and a second pass changes nothing")
    func masks() async throws {
        let app = try MySQLFixture(
            """
            CREATE TABLE t(id int AUTO_INCREMENT PRIMARY KEY, u varchar(9), a varchar(9), b text,
                c varchar(99) COLLATE utf8mb4_general_ci, d text, e text, n int, s char(9),
                made timestamp DEFAULT '2025-01-01 00:00:00' ON UPDATE CURRENT_TIMESTAMP, KEY (u));
            INSERT INTO t(u, a, b, c, d, e, n, s) SELECT 'x', 'a', 'same', 'c"\\\\', NULL,
                'truncate me', 7, '' FROM seq_1_to_700;
            INSERT INTO t(u, a, b, c, d, e, n, s)
                VALUES ('y', 'a', 'same', 'c', 'd', 'truncate me', 7, '');
            """
        )
        let masks: [ColumnMask] = [
            .init(column: "a", strategy: .null), .init(column: "b", strategy: .hash),
            .init(column: "c", strategy: .random), .init(column: "d", strategy: .hash),
            .init(column: "e", strategy: .truncate(length: 3)),
            .init(column: "n", strategy: .integer(0)), .init(column: "s", strategy: .text("x'\\ ")),
        ]
        let store = app.store(
            TableRule(
                table: "t",
                column: "u",
                action: .anonymize(masks),
                reason: "tax",
                creation: CreationColumn(column: "made", unit: .timestamp)
            )
        )
        #expect(await store.diagnose() == [])
        #expect(await store.purge([erase("x")]).map(\.text) == ["t anonymize: tax 700"])
        #expect(await store.verify([erase("x")]) == [.clean])
        let check = """
            SELECT count(DISTINCT b), count(DISTINCT c), count(a), count(d), max(e), max(n), max(s),
                sum(b REGEXP '^erased:[0-9a-f]{32}$' AND c LIKE 'erased:%'), max(made)
            FROM t WHERE u =
            """
        #expect(
            try app.sql(check + "'x'") == ["1|700|0|0|tru*|0|x'\\|700|2025-01-01 00:00:00"]
        )
        #expect(
            try app.sql("SELECT a, b, c, d, e, n FROM t WHERE u = 'y'") == [
                "a|same|c|d|truncate me|7"
            ]
        )
        #expect(await store.purge([erase("x")]).map(\.text) == ["t anonymize: tax 0"])
    }

    @Test("newer rows, those they refer to, and kept rows stay and are told")
    func cutoff() async throws {
        let app = try MySQLFixture(
            """
            CREATE TABLE a(id int PRIMARY KEY, u varchar(9), made datetime);
            CREATE TABLE b(id int AUTO_INCREMENT PRIMARY KEY, a int, u varchar(9), made bigint,
                FOREIGN KEY (a) REFERENCES a(id) ON DELETE CASCADE);
            CREATE TABLE k(u varchar(9));
            INSERT INTO a VALUES (1, 'x', '2025-01-01'), (2, 'x', '2027-01-01'), (3, 'x', NULL),
                (4, 'x', '2025-01-01'), (5, 'x', '0000-00-00'), (6, 'x', '2025-00-00');
            INSERT INTO b(a, u, made) VALUES (4, 'x', 1800000000), (1, 'x', 1700000000);
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
        #expect(found.problems == [])
        guard case .items(let items) = await store.plan(erase("x")) else {
            Issue.record("no plan")
            return
        }
        #expect(
            items.map {
                "\($0.name) \($0.action) \($0.count)+\($0.newerCount), \($0.undatedCount) undated"
            }.sorted() == [
                "a delete 3+3, 2 undated", "b delete 1+1, 0 undated", "k keep 1+0, 0 undated",
            ]
        )
        let text = await store.purge([erase("x")]).map(\.text).first ?? ""
        #expect(text.contains("b delete 1+1") && text.contains("a delete 1+3"))
        #expect(text.contains("a delete, undated rows 2") && text.contains("k keep: the law 1"))
        #expect(try app.sql("SELECT id FROM a ORDER BY id") == ["2", "4", "6"])
        let future = ["a", "b"].map {
            VerifyAnswer.failure(.blocked(Obstacle(.future, at: $0, name: "made")))
        }
        #expect(await store.verify([erase("x")]).allSatisfy(future.contains))
    }

    @Test(
        "a time without a fraction stands for its whole second, a date for its whole day",
        arguments: [
            ("date", CreationColumn.Unit.timestamp, "'2025-06-01'", "'2025-05-31'"),
            ("timestamp", .timestamp, "'2025-06-01 00:00:00'", "'2025-05-31 23:59:59'"),
            ("datetime(3)", .timestamp, "'2025-06-01 00:00:00'", "'2025-06-01 00:00:00.4'"),
            ("bigint", .unixSeconds, "1748736000", "1748735999"),
            ("decimal(20,3)", .unixSeconds, "1748736000", "1748736000.4"),
            ("double", .unixSeconds, "1748736000", "1748736000.4"),
            ("bigint", .unixMilliseconds, "1748736000501", "1748736000500"),
        ]
    )
    func wholeTimes(
        type: String,
        unit: CreationColumn.Unit,
        later: String,
        earlier: String
    ) async throws {
        let app = try MySQLFixture(
            """
            CREATE TABLE t(u varchar(9), made \(type), KEY (u));
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
        let found = await store.inspect(withOutages: true)
        #expect(found.problems == [])
        #expect(found.advice.map(\.text).contains(days) == (type == "date"))
        let half = order("x", cutoff: WallTime(unixMilliseconds: 1_748_736_000_500))
        #expect(await store.purge([half]).map(\.text) == ["t delete 1+1"])
        #expect(await store.verify([half]) == [.clean])
        let isLater = "SET time_zone = '+00:00'; SELECT made = \(later) FROM t"
        #expect(try app.sql(isLater) == ["1"])
    }

    @Test("long values are masked a few at a time", arguments: [MaskStrategy.hash, .random])
    func longValues(strategy: MaskStrategy) async throws {
        let count = Bars.areHeld ? 60 : 12
        let app = try MySQLFixture(
            """
            CREATE TABLE t(id int AUTO_INCREMENT PRIMARY KEY, u varchar(9), a longtext, b text,
                KEY (u));
            INSERT INTO t(u, a, b) SELECT 'x', repeat(md5(seq), 65536), 'same'
                FROM seq_1_to_\(count);
            INSERT INTO t(u, a, b) SELECT 'x', NULL, 'same' FROM seq_1_to_500;
            """
        )
        let masks = ["a", "b"].map { ColumnMask(column: $0, strategy: strategy) }
        let store = app.store(TableRule(table: "t", column: "u", action: .anonymize(masks)))
        let memory = try PeakMemory.whereHeld()
        let done = await store.purge([erase("x")]).map(\.text)
        #expect(done == ["t anonymize, cutoff: none \(count + 500)"])
        // All at once are 120 MiB, and twice that with the copy that is masked.
        if let grown = try memory?.grownMebibytes() { #expect(grown <= 128) }
        #expect(await store.verify([erase("x")]) == [.clean])
        let distinct = "SELECT count(a), count(DISTINCT a), count(DISTINCT b) FROM t"
        let masked = strategy == .hash ? 1 : count + 500
        #expect(try app.sql(distinct) == ["\(count)|\(count)|\(masked)"])
    }

    @Test(
        "rows that others have locked are passed over, and verification says that they are locked"
    )
    func locked() async throws {
        let app = try MySQLFixture(Self.schema)
        let holder = try app.session()
        try holder.run("START TRANSACTION")
        _ = try holder.query("SELECT 1 FROM likes WHERE u = 'u7' LIMIT 1 FOR UPDATE")
        let store = app.store(likes)
        #expect(await store.purge([erase("u7")]).map(\.text) == ["likes delete, cutoff: none 4"])
        let found = VerifyAnswer.failure(.blocked(Obstacle(locked: 1, at: "likes")))
        #expect(await store.verify([erase("u7"), erase("u8")]) == [found, .remaining(5)])
        // A recheck asks whether data is there, whoever works with it.
        var recheck = erase("u7")
        recheck.erasedAt = recheck.cutoff
        #expect(await store.verify([recheck]) == [.remaining(1)])
        try holder.run("ROLLBACK")
        #expect(await store.purge([erase("u7")]).map(\.text) == ["likes delete, cutoff: none 1"])
        #expect(await store.verify([erase("u7")]) == [.clean])
    }

    @Test("a table with partitions is purged as one")
    func partitions() async throws {
        let app = try MySQLFixture(
            """
            CREATE TABLE t(n int PRIMARY KEY, u varchar(9), m text) PARTITION BY RANGE (n)
                (PARTITION p0 VALUES LESS THAN (10), PARTITION p1 VALUES LESS THAN MAXVALUE);
            INSERT INTO t SELECT seq, if(seq % 2, 'x', 'y'), 'm' FROM seq_1_to_20;
            """
        )
        let mask = TableAction.anonymize([ColumnMask(column: "m", strategy: .random)])
        let masking = app.store(TableRule(table: "t", column: "u", action: mask, reason: "tax"))
        #expect(await masking.diagnose() == [])
        #expect(
            await masking.purge([erase("x")]).map(\.text)
                == ["t anonymize: tax, cutoff: none 10"]
        )
        #expect(try app.sql("SELECT count(*) FROM t WHERE m = 'm' AND u = 'y'") == ["10"])
        let store = app.store(TableRule(table: "t", column: "u", action: .delete))
        #expect(await store.purge([erase("x")]).map(\.text) == ["t delete, cutoff: none 10"])
        #expect(try app.sql("SELECT count(*) FROM t") == ["10"])
    }

    @Test("a connection that breaks before any statement leaves nothing half done")
    func cuts() async throws {
        let app = try MySQLFixture(
            Self.schema + """
                INSERT INTO likes(post, u) SELECT (SELECT min(id) FROM posts WHERE u = 'u1'), 'u7'
                    FROM seq_1_to_3000;
                """
        )
        let before = try app.sql(others)
        var cutCount = 0
        for cut in 1...200 {
            let count = Atomic<Int>(0)
            let cutter = app.store(users, posts, likes) { _ in
                count.wrappingAdd(1, ordering: .relaxed).newValue < cut
            }
            let answer = await cutter.purge([erase("u7")])
            let verdict = await app.store(users, posts, likes).verify([erase("u7")])
            let rest = try app.sql(usersLeft)
            #expect((verdict == [.clean]) == (rest == ["0"]))
            if case .done = answer.first, verdict == [.clean], count.load(ordering: .relaxed) < cut
            {
                break
            }
            cutCount += 1
        }
        #expect(cutCount > 10)
        #expect(try app.sql(others) == before)
        #expect(try app.sql("SELECT count(*) FROM users") == ["19"])
    }

    private let usersLeft =
        "SELECT (SELECT count(*) FROM users WHERE id = 'u7') + (SELECT count(*) FROM posts"
        + " WHERE u = 'u7') + (SELECT count(*) FROM likes WHERE u = 'u7')"

    @Test("a cancelled purge ends at once and leaves no statement running")
    func cancellation() async throws {
        let app = try MySQLFixture(Self.schema)
        let holder = try app.session()
        try holder.run("LOCK TABLES likes WRITE")
        let (started, begin) = AsyncStream<Void>.makeStream()
        let store = app.store(likes) { sql in
            if sql.contains("`likes`") { begin.yield() }
            return true
        }
        let purge = Task { await store.purge([erase("u7")]) }
        for await _ in started { break }
        purge.cancel()
        let took = await ContinuousClock().measure {
            #expect(await purge.value == [.failure(.lost)])
        }
        if Bars.areHeld { #expect(took < .seconds(10)) }
        let waiting = """
            SELECT count(*) FROM information_schema.PROCESSLIST
            WHERE DB = '\(app.database)' AND INFO LIKE '%FROM `\(app.database)`.`likes`%'
                AND ID <> CONNECTION_ID()
            """
        // The server deals with the end in its own time.
        try app.sql(
            """
            BEGIN NOT ATOMIC FOR i IN 1..2400 DO
                IF (\(waiting)) > 0 THEN DO SLEEP(0.05); END IF;
            END FOR; END
            """
        )
        #expect(try app.sql(waiting) == ["0"])
        try holder.run("UNLOCK TABLES")
    }

    @Test("a lock that is held is back-pressure")
    func busy() async throws {
        let app = try MySQLFixture(Self.schema)
        let holder = try app.session()
        try holder.run("LOCK TABLES likes WRITE")
        var plan = app.plan([likes])
        plan.lockTimeout = .seconds(1)
        let hasty = app.store(plan)
        #expect(await hasty.purge([erase("u7")]) == [.failure(.throttled(retryAfter: nil))])
        try holder.run("UNLOCK TABLES")
        let store = app.store(likes)
        #expect(await store.purge([erase("u7")]).map(\.text) == ["likes delete, cutoff: none 5"])
    }
}

/// The order to erase a user.
private func erase(_ user: String) -> PurgeOrder { order(user) }
