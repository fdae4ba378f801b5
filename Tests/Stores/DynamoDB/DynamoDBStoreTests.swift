import Encoding
import Engine
import Lifecycle
import Synchronization
import Testing

@testable import Stores

@Suite("DynamoDB", .serialized)
struct DynamoDBStoreTests {
    private static let byKey = "profiles where pk == {user_id}"
    private static let byIndex = "posts by author-index where author_id == {user_id}"

    /// Ids that a careless comparison takes for one another.
    private static let users = [
        "1", "01", "1.0", "12", "ann", "Ann", "ann ", "USER#1", "é", "e\u{301}", "{user_id}", "*",
        "1 OR 1=1", ":v0", "#n0",
    ]

    @Test("items of one partition and of one index go, nothing of another user")
    func purges() async throws {
        let fixture = try DynamoDBFixture()
        try fixture.make("profiles")
        try fixture.make("posts", isIndexed: true)
        for user in Self.users {
            for number in 1...3 {
                try fixture.put("profiles", ["pk": user, "sk": "s\(number)", "name": "x"])
                try fixture.put(
                    "posts",
                    ["pk": "\(user)/\(number)", "sk": "s", "author_id": user]
                )
            }
        }
        let store = try fixture.store([Self.byKey, Self.byIndex])
        #expect(await store.diagnose() == [])
        for user in ["1", "é", "Ann", "nobody"] {
            let before = try (fixture.items("profiles"), fixture.items("posts"))
            let order = try FilesFixture.order(user)
            let count = user == "nobody" ? 0 : 3
            guard case .items(let items) = await store.plan(order) else {
                Issue.record("no plan")
                return
            }
            #expect(items.map(\.count) == [count, count])
            let left: VerifyAnswer = count == 0 ? .clean : .remaining(6)
            #expect(await store.verify([order]) == [left])
            #expect(await store.purge([order])[0].rowCounts == [count, count])
            #expect(await store.verify([order]) == [.clean])
            #expect(await store.purge([order])[0].rowCounts == [0, 0])
            let profiles = before.0.filter { !$0.utf8.starts(with: "name=x pk=\(user) sk=".utf8) }
            #expect(try fixture.items("profiles") == profiles)
            let posts = before.1.filter { !$0.utf8.starts(with: "author_id=\(user) pk=".utf8) }
            #expect(try fixture.items("posts") == posts)
        }
        await store.shutdown()
    }

    @Test("a text around the id, and a page smaller than the partition")
    func composed() async throws {
        let fixture = try DynamoDBFixture()
        try fixture.make("app")
        for user in ["1", "11"] {
            for number in 0..<60 {
                try fixture.put("app", ["pk": "USER#\(user)", "sk": "\(number)"])
            }
        }
        try fixture.put("app", ["pk": "1", "sk": "x"])
        let store = try fixture.store(["app where pk == USER#{user_id}"], pageSize: 7)
        let order = try FilesFixture.order("1")
        #expect(await store.purge([order])[0].rowCounts == [60])
        #expect(await store.verify([order]) == [.clean])
        #expect(try fixture.items("app").count == 61)
        guard case .found(let users) = await store.users(where: { _ in true }) else {
            Issue.record("no users")
            return
        }
        #expect(users.map { $0.exposeText() } == ["11"])
        await store.shutdown()
    }

    @Test("a key that is a number has one spelling; another one is refused, not called erased")
    func numbers() async throws {
        let fixture = try DynamoDBFixture()
        try fixture.make("profiles", type: "N", isSorted: false)
        for number in ["0", "7", "70", "-7"] { try fixture.put("profiles", ["pk": "<\(number)>"]) }
        let store = try fixture.store([Self.byKey])
        #expect(await store.diagnose() == [])
        for user in ["007", "7.0", "+7", "7e0", " 7", "-0", "٧", "ann"] {
            let order = try FilesFixture.order(user)
            #expect(await store.purge([order]) == [.failure(.unusable)], "\(user)")
            #expect(await store.verify([order]) == [.failure(.unusable)], "\(user)")
        }
        #expect(await store.purge([try FilesFixture.order("7")])[0].rowCounts == [1])
        #expect(try fixture.items("profiles") == ["pk=-7", "pk=0", "pk=70"])
        await store.shutdown()
    }

    @Test("what is newer than the request stays; what has no date counts as old")
    func cutoff() async throws {
        let fixture = try DynamoDBFixture()
        try fixture.make("posts", isIndexed: true)
        let cutoff = FilesFixture.now()
        let dates = [
            "old": "<\(cutoff.unixMilliseconds / 1000 - 5)>",
            "new": "<\(cutoff.unixMilliseconds / 1000 + 5).5>",
        ]
        for (name, date) in dates {
            try fixture.put(
                "posts",
                ["pk": name, "sk": "s", "author_id": "ann", "at": date]
            )
        }
        try fixture.put("posts", ["pk": "undated", "sk": "s", "author_id": "ann"])
        let store = try fixture.store([Self.byIndex]) {
            $0.datedBy["posts"] = ItemDate.Column(attribute: "at", unit: .unixSeconds)
        }
        var order = try FilesFixture.order("ann", cutoff: cutoff)
        order.datesUpTo = cutoff + .seconds(60)
        guard case .items(let items) = await store.plan(order) else {
            Issue.record("no plan")
            return
        }
        #expect(items.map(\.count) == [2] && items.map(\.newerCount) == [1])
        #expect(items.map(\.undatedCount) == [1] && !items[0].hasNoTimestamps)
        guard case .done(let counts) = await store.purge([order])[0] else {
            Issue.record("not done")
            return
        }
        #expect(counts.entries.map(\.rowCount) == [2] && counts.newerCount == 1)
        #expect(await store.verify([order]) == [.clean])
        #expect(try fixture.items("posts").count == 1)
        order.datesUpTo = cutoff
        guard case .failure(.blocked(let obstacle)) = await store.verify([order])[0] else {
            Issue.record("a date in the future is believed")
            return
        }
        #expect(obstacle.kind == .future)
        await store.shutdown()
    }

    @Test("a date that cannot be read stops the user, and the check names the unit")
    func unreadableDate() async throws {
        let fixture = try DynamoDBFixture()
        try fixture.make("profiles")
        try fixture.put("profiles", ["pk": "ann", "sk": "s", "at": "yesterday"])
        let store = try fixture.store([Self.byKey]) {
            $0.datedBy["profiles"] = ItemDate.Column(attribute: "at", unit: .iso8601)
        }
        let order = try FilesFixture.order("ann")
        guard case .failure(.blocked) = await store.purge([order])[0] else {
            Issue.record("purged")
            return
        }
        #expect(try fixture.items("profiles").count == 1)
        #expect(await store.diagnose().contains { $0.contains("created_at_unit") })
        await store.shutdown()
    }

    @Test("released items stay without their attributes, and others keep theirs")
    func releases() async throws {
        let fixture = try DynamoDBFixture()
        try fixture.make("posts", isIndexed: true)
        for (name, user) in [("a", "ann"), ("b", "ann"), ("c", "bob")] {
            try fixture.put(
                "posts",
                ["pk": name, "sk": "s", "author_id": user, "author_name": user, "text": "hi"]
            )
        }
        let store = try fixture.store(
            releases: [Self.byIndex + " remove author_id, author_name"]
        ) { $0.masks["author_name"] = "deleted user" }
        #expect(await store.diagnose() == [])
        let order = try FilesFixture.order("ann")
        guard case .done(let counts) = await store.purge([order])[0] else {
            Issue.record("not done")
            return
        }
        #expect(counts.entries.map(\.action) == [.rule(.anonymize)])
        #expect(counts.entries.map(\.rowCount) == [2])
        #expect(
            try fixture.items("posts") == [
                "author_id=bob author_name=bob pk=c sk=s text=hi",
                "author_name=deleted user pk=a sk=s text=hi",
                "author_name=deleted user pk=b sk=s text=hi",
            ]
        )
        #expect(await store.verify([order]) == [.clean])
        await store.shutdown()
    }

    @Test("an item stays with its key, and its attributes go")
    func releasesByKey() async throws {
        let fixture = try DynamoDBFixture()
        try fixture.make("profiles", isSorted: false)
        try fixture.put("profiles", ["pk": "ann", "email": "ann@example.com", "plan": "free"])
        let store = try fixture.store(releases: [Self.byKey + " remove email"])
        let order = try FilesFixture.order("ann")
        #expect(await store.verify([order]) == [.remaining(1)])
        #expect(await store.purge([order])[0].rowCounts == [1])
        #expect(try fixture.items("profiles") == ["pk=ann plan=free"])
        #expect(await store.verify([order]) == [.clean])
        #expect(await store.purge([order])[0].rowCounts == [0])
        await store.shutdown()
    }

    // MARK: What a server does

    @Test("an index that lists what is another user's by now deletes nothing of theirs")
    func staleIndex() async throws {
        let fixture = try DynamoDBFixture("stale-")
        try fixture.make("posts", isIndexed: true)
        try fixture.put("posts", ["pk": "a", "sk": "s", "author_id": "ann"])
        try fixture.put("posts", ["pk": "b", "sk": "s", "author_id": "bob", "was": "ann"])
        let store = try fixture.store([Self.byIndex])
        let order = try FilesFixture.order("ann")
        #expect(await store.purge([order])[0].rowCounts == [1])
        #expect(await store.verify([order]) == [.clean])
        #expect(try fixture.items("posts") == ["author_id=bob pk=b sk=s was=ann"])
        await store.shutdown()
    }

    @Test("an index that lags is waited for after a request, and a scan finds what it hides")
    func lateIndex() async throws {
        let fixture = try DynamoDBFixture("late-")
        try fixture.make("posts", isIndexed: true)
        try fixture.put(
            "posts",
            ["pk": "a", "sk": "s", "author_id": "ann", "fresh": "yes"]
        )
        let rests = Mutex<[Duration]>([])
        let cutoff = FilesFixture.now()
        let order = try FilesFixture.order("ann", cutoff: cutoff)
        let store = try fixture.store(
            [Self.byIndex],
            rest: { duration in
                rests.withLock { $0.append(duration) }
            }
        )
        #expect(await store.verify([order]) == [.clean])
        let rested = rests.withLock { $0.first } ?? .zero
        let passed = FilesFixture.now().since(cutoff)
        #expect(rested <= .seconds(10) && rested + passed >= .seconds(10), "\(rested) \(passed)")
        await store.shutdown()
        let scanning = try fixture.store([Self.byIndex]) { $0.verifiesByScan = true }
        #expect(await scanning.verify([order]) == [.remaining(1)])
        await scanning.shutdown()
    }

    @Test("pauses that the server asks for, and items that it leaves, are tried again")
    func slow() async throws {
        let fixture = try DynamoDBFixture("slow-")
        try fixture.make("profiles")
        for number in 0..<30 { try fixture.put("profiles", ["pk": "ann", "sk": "\(number)"]) }
        let store = try fixture.store([Self.byKey])
        let order = try FilesFixture.order("ann")
        #expect(await store.purge([order])[0].rowCounts == [30])
        #expect(await store.verify([order]) == [.clean])
        await store.shutdown()
    }

    @Test("what keeps deleted items for a while stands on the receipt")
    func copies() async throws {
        let fixture = try DynamoDBFixture()
        try fixture.make("profiles", hasStream: true)
        let name = "\(fixture.prefix)profiles"
        try fixture.server.call(
            "UpdateContinuousBackups",
            [
                "TableName": .string(name),
                "PointInTimeRecoverySpecification": ["PointInTimeRecoveryEnabled": true],
            ]
        )
        try fixture.server.call(
            "CreateBackup",
            ["TableName": .string(name), "BackupName": "weekly"]
        )
        let store = try fixture.store([Self.byKey])
        guard case .done(let counts) = await store.purge([try FilesFixture.order("ann")])[0] else {
            Issue.record("not done")
            return
        }
        let phrases: [ResidualPhrase] = [.tableRecovery, .tableBackups, .tableStream]
        #expect(
            counts.residualCopies.map(\.content) == phrases.map { .phrase($0.id, name: name) }
        )
        #expect(counts.residualCopies[1].until == nil)
        #expect(counts.residualCopies[0].until != nil && counts.residualCopies[2].until != nil)
        await store.shutdown()
    }

    // MARK: Checks

    @Test(
        "a rule that does not fit its table is a problem that names both",
        arguments: [
            ("nothing where pk == {user_id}", "there is no table"),
            ("profiles where user == {user_id}", "partition key of table"),
            ("posts by other where author_id == {user_id}", "has no index 'other'"),
            ("posts by author-index where pk == {user_id}", "partition key of index"),
            ("numbers where pk == USER#{user_id}", "is no text"),
        ]
    )
    func problems(rule: String, cause: String) async throws {
        let fixture = try DynamoDBFixture()
        try fixture.make("profiles")
        try fixture.make("posts", isIndexed: true)
        try fixture.make("numbers", type: "N")
        let store = try fixture.store([rule])
        let problems = await store.diagnose()
        #expect(problems.count == 1 && problems[0].contains(cause), "\(problems)")
        #expect(
            await store.purge([try FilesFixture.order("ann")]) == [.failure(.misconfigured)]
        )
        await store.shutdown()
    }

    @Test("a key that may not do what a purge does is named, and deletes nothing")
    func permissions() async throws {
        let fixture = try DynamoDBFixture("locked-")
        try fixture.make("profiles")
        let store = try fixture.store([Self.byKey])
        let problems = await store.diagnose()
        for action in ["Query", "GetItem", "DeleteItem", "BatchWriteItem"] {
            #expect(problems.contains { $0.contains("dynamodb:\(action) ") }, "\(problems)")
        }
        #expect(
            await store.purge([try FilesFixture.order("ann")]) == [.failure(.misconfigured)]
        )
        await store.shutdown()
    }

    @Test("a server that is not there, or has another certificate, is told from a wrong key")
    func unreachable() async throws {
        let fixture = try DynamoDBFixture()
        let store = try fixture.store([Self.byKey], trusts: false)
        #expect(await store.startupProblems() == [])
        #expect(await store.diagnose().first?.contains("ca_file") == true)
        #expect(await store.purge([try FilesFixture.order("ann")]) == [.failure(.unreachable)])
        await store.shutdown()
    }

    @Test("tables that no rule names are found")
    func coverage() async throws {
        let fixture = try DynamoDBFixture()
        try fixture.make("profiles")
        try fixture.make("visits")
        let store = try fixture.store([Self.byKey])
        guard case .findings(let findings) = await store.coverage() else {
            Issue.record("no findings")
            return
        }
        #expect(findings.filter { !$0.isCovered }.map(\.name) == [fixture.prefix + "visits"])
        await store.shutdown()
    }

    @Test(
        "a rule that could mean another user, or nothing, is refused",
        arguments: [
            "profiles", "profiles where pk", "profiles where pk == ann",
            "profiles where pk == {user_id}{user_id}", "profiles where pk = {user_id}",
            "profiles  where pk == {user_id}", "{user_id} where pk == {user_id}",
            "profiles by where pk == {user_id}", "profiles where pk == {user_id} remove name",
        ]
    )
    func refused(text: String) {
        #expect(throws: MalformedTemplate.self) { try ItemRule(text, releases: false) }
        #expect(throws: MalformedTemplate.self) { try ItemRule(text + " remove", releases: true) }
    }
}
