import Engine
import HTTP
import Lifecycle
package import Settings

/// A Redis server.
package struct RedisKind: DrillCopying {
    package static let name = "redis"
    package static let traits = StoreTraits(
        residualCopies: "Redis's append-only file",
        residualPhrases: [.appendOnlyFile, .laggingCaches]
    )

    package static let settings: [Setting] = server + access + data + [timeoutOfBatch]

    private static let server: [Setting] = [
        .unixSocket(.store, example: "/run/redis/redis-server.sock"),
        Setting(
            .store,
            "address",
            .text(.host),
            .optional(example: .text("redis.example.com:6379")),
            "Host and port of the server, with TLS; this or socket. The default port is 6379."
        ),
        Setting(
            .store,
            "allow_plain_tcp",
            .boolean,
            .defaultsTo(.boolean(false)),
            "Connect without TLS, to a loopback address only."
        ).outsidePlans(),
        .caFile(.store, example: "/etc/expunged/redis-ca.pem").outsidePlans(),
    ]

    private static let access = Setting.keys(
        .store,
        isOutsidePlans: true,
        (
            "username", .text(.clientID), .optional(example: .text("expunged")),
            "User of the server's access control list. Default: its default user."
        ),
        (
            "password_credential", .text(.credential), .optional(example: .text("redis-password")),
            "Password of that user, on one line."
        )
    )

    private static let data = Setting.keys(
        .store,
        (
            "database", .count(0...65_535, unit: "as the number of a database"),
            .defaultsTo(.count(0)), "Number of the database."
        ),
        (
            "keys", .texts(.userKey, 0...64), .defaultsTo(.texts([])),
            """
            Keys of a user: {user_id}, fixed text and *, such as session:{user_id}:* \
            (docs/stores/redis.md).
            """
        ),
        (
            "members", .map(.sentence, .userKey, 0...64), .defaultsTo(.map([:])),
            """
            Members of a user in hashes, sets and sorted sets, by their key, which may contain *: \
            { "online" = "{user_id}" }.
            """
        )
    )

    private static let timeoutOfBatch = Setting(
        .store,
        "timeout",
        .duration(.milliseconds(100) ... .seconds(300)),
        .defaultsTo(.duration(.seconds(10))),
        "Time for one batch of commands."
    ).outsidePlans()

    /// Where the server listens.
    enum Address: Hashable, Sendable {
        case socket(String)
        /// With TLS unless `isPlain`, which is for loopback alone.
        case host(String, port: Int, isPlain: Bool)
    }

    /// Members of hashes, sets and sorted sets that belong to a user.
    struct MemberRule: Hashable, Sendable, CustomStringConvertible {
        /// The keys that hold them.
        let key: String
        let member: UserPattern

        var description: String { "\(key) \(member)" }
    }

    var address: Address
    /// The only authorities to trust; `nil` for the system's.
    var caFile: String?
    /// The user of the server's ACL; `nil` for its default one.
    var username: String?
    var passwordCredential: String?
    var database = 0
    /// Empty only where there are members.
    var keys: [UserPattern] = []
    var members: [MemberRule] = []
    /// How long one batch of commands may take.
    var timeout = RedisLimits.reply

    /// The rules as the receipt names them.
    var rules: [String] { keys.map(\.description) + members.map(\.description) }

    package var cutoff: StoreCutoff { .none("Redis does not date its keys", remedy: nil) }

    package func open(_ environment: StoreEnvironment) throws -> RedisStore {
        RedisStore(
            name: environment.name,
            settings: self,
            password: try passwordCredential.map(environment.line),
            residualCopiesKept: environment.store.residualCopiesKept,
            group: environment.adapters.eventLoop(of: environment.owner),
            clock: environment.clock
        )
    }

    package func copy(at place: String) throws(NoStoreCopy) -> Self {
        // What the setting allows (store.database).
        guard let number = UInt16(place), "\(number)" == place else {
            throw .malformed("the number of a database of the same server, 0 to 65535")
        }
        var copy = self
        copy.database = Int(number)
        return copy
    }

    package func overlaps(_ other: any StoreKind, _ environment: StoreEnvironment) -> Bool {
        (other as? Self)?.database == database
    }
}

extension RedisKind {
    package init(_ section: inout SettingsSection, _ problems: inout SectionProblems) {
        problems.refuseTables("a store of Redis has no tables; give keys or members")
        let (texts, entries) = (section.texts("keys"), section.map("members"))
        keys = problems.read(texts, "keys") { text throws(MalformedTemplate) in
            try UserPattern(text)
        }
        members = problems.read(entries.sorted { $0.key < $1.key }, "members") {
            entry throws(MalformedTemplate) in
            MemberRule(key: entry.key, member: try UserPattern(entry.value))
        }
        username = section.text("username")
        passwordCredential = section.text("password_credential")
        database = section.requiredCount("database")
        caFile = section.text("ca_file")
        timeout = section.duration("timeout")
        address = Address(section, &problems)
        if texts.isEmpty && entries.isEmpty {
            problems.report(
                .missingKey,
                "keys",
                "a store of Redis needs keys or members, such as keys = [\"user:{user_id}\"]"
            )
        }
        if username != nil && passwordCredential == nil {
            problems.report(
                .missingKey,
                "password_credential",
                "username says nothing without it"
            )
        }
    }
}

extension RedisKind.Address {
    /// `socket` or `address`.
    fileprivate init(_ section: SettingsSection, _ problems: inout SectionProblems) {
        let isPlain = section.flag("allow_plain_tcp")
        let plainKey = isPlain ? "allow_plain_tcp" : nil
        let example = "/run/redis/redis-server.sock"
        switch ServerPlace(section, plainKey: plainKey, example: example, &problems) {
        case .socket(let path)?: self = .socket(path)
        // The port that Redis registered (iana.org/assignments/service-names-port-numbers).
        case .address(let url)?: self = .host(url.host, port: url.port ?? 6379, isPlain: isPlain)
        case nil: self = .socket("")
        }
    }
}

extension TextRule {
    /// A name of Redis in which the user id stands.
    static let userKey = TextRule(
        "name with {user_id}",
        "1 to 512 bytes with {user_id} once, no '*' beside it, and no control characters"
    ) { text in
        let parts = text.split(separator: "{user_id}", omittingEmptySubsequences: false)
        return text.utf8.count <= 512 && isPrintable(text) && parts.count == 2
            && parts[0].last != "*" && parts[1].first != "*"
    }
}

extension ResidualPhrase {
    static let appendOnlyFile = ResidualPhrase(
        "append_only_file",
        "append-only file of Redis, until its next rewrite"
    )

    static let laggingCaches = ResidualPhrase(
        "lagging_redis_replicas",
        "replicas of Redis that lag behind"
    )
}
