package import Engine
import Ledger
package import Lifecycle

/// A legal hold on a user, if there is one, and the open requests that it stops.
package struct UserHold: Hashable, Sendable {
    package let userHash: [UInt8]
    package var since: WallTime?
    /// Login uid of the operator who placed it.
    package var uid: UInt32?
    /// The operator's own words; may be personal data.
    package var reason: String?
    package var openRequests: [RequestID] = []
}

extension StateDatabase: NoteStore {
    /// Rows that this process has changed; the writer answers, so it shows that it works.
    package func changeCount() async throws -> Int {
        try await writer.perform { $0.totalChangesCount }
    }

    /// Puts a user on hold; later requests begin on hold, and the engine holds the open ones next.
    package func holdUser(
        _ userHash: [UInt8],
        reason: String? = nil,
        by uid: UInt32,
        at now: WallTime
    ) async throws -> UserHold {
        try await write { database, appender in
            let isNew =
                try database.run(
                    UserHoldColumn.insertion + " ON CONFLICT DO NOTHING",
                    UserHoldColumn.row([
                        .userHash: .blob(userHash), .reason: .text(reason), .since: .time(now),
                        .uid: .uid(uid),
                    ])
                ) > 0
            if isNew {
                appender.write("user_held", [(.user, .hash(userHash))], by: uid, at: now)
            } else if let reason {
                try database.run(
                    "UPDATE user_holds SET reason = ? WHERE user_hash = ?",
                    [.text(reason), .blob(userHash)]
                )
            }
            return try Self.hold(userHash, database)
        }
    }

    /// Ends the hold on a user; those on single requests stay.
    ///
    /// Returns the open requests to release: once more after a release that a crash cut short.
    package func releaseUser(
        _ userHash: [UInt8],
        by uid: UInt32,
        at now: WallTime
    ) async throws -> UserHold {
        try await write { database, appender in
            var hold = try Self.hold(userHash, database)
            try database.run("DELETE FROM user_holds WHERE user_hash = ?", [.blob(userHash)])
            if hold.since != nil {
                // Also where the machine had another reason to wait: the engine releases it.
                try database.run(
                    """
                    UPDATE requests INDEXED BY requests_user SET is_held = 1
                    WHERE user_hash = ? AND ended_at IS NULL AND is_held = 0
                    """,
                    [.blob(userHash)]
                )
                appender.write("user_released", [(.user, .hash(userHash))], by: uid, at: now)
            }
            hold.openRequests = try Self.openRequests(
                of: userHash,
                where: "AND is_held = 1 AND has_own_hold = 0",
                database
            )
            return hold
        }
    }

    /// Puts one open request on hold, or ends that hold.
    ///
    /// After the end `is_held` stays, also where the machine had another reason to wait: the engine
    /// lifts it. The reason is the operator's own words and ends with the hold.
    package func setOwnHold(
        _ isHeld: Bool,
        reason: String? = nil,
        of id: RequestID
    ) async throws {
        _ = try await writer.perform { database in
            if !isHeld || reason != nil {
                try database.setFact(Self.holdReason(id), to: reason)
            }
            return try database.run(
                """
                UPDATE requests SET is_held = max(is_held, has_own_hold), has_own_hold = ?
                WHERE id = ? AND ended_at IS NULL
                """,
                [.bool(isHeld), .id(id)]
            )
        }
    }

    /// Why an operator has put a request itself on hold.
    package func ownHoldReason(of id: RequestID) async throws -> String? {
        try await read { try $0.fact(Self.holdReason(id)) }
    }

    private static func holdReason(_ id: RequestID) -> String { "hold:\(id)" }

    /// The hold on a user, if any, and the user's open requests.
    package func userHold(_ userHash: [UInt8]) async throws -> UserHold {
        try await read { try Self.hold(userHash, $0) }
    }

    /// All holds on users, the oldest first, without the requests.
    package func userHolds() async throws -> [UserHold] {
        try await all(UserHoldColumn.self, "FROM user_holds ORDER BY since, user_hash") {
            UserHold($0)
        }
    }

    /// The users on hold and their requests.
    ///
    /// `withTombstones` adds requests that only tombstones know, as after a restore of the machine;
    /// then all tombstones are read while a user is on hold.
    package func usersOnHold(withTombstones: Bool) async throws -> UsersOnHold {
        try await read { database in
            let hashes = try database.all("SELECT user_hash FROM user_holds") { $0.blob() }
            var requests = try database.requestIDs(
                "SELECT r.id FROM user_holds h JOIN requests r ON r.user_hash = h.user_hash"
            )
            if withTombstones, !hashes.isEmpty {
                requests += try database.requestIDs(
                    """
                    SELECT request_id FROM tombstones
                    WHERE is_key = 0 AND user_hash IN (SELECT user_hash FROM user_holds)
                    """
                )
            }
            return UsersOnHold(hashes: Set(hashes), requests: Set(requests))
        }
    }

    private static func hold(
        _ userHash: [UInt8],
        _ database: any StateConnection
    ) throws -> UserHold {
        let known = try database.first(
            UserHoldColumn.self,
            "FROM user_holds WHERE user_hash = ?",
            [.blob(userHash)]
        ) { UserHold($0) }
        var hold = known ?? UserHold(userHash: userHash)
        hold.openRequests = try openRequests(of: userHash, database)
        return hold
    }

    private static func openRequests(
        of userHash: [UInt8],
        where condition: String = "",
        _ database: any StateConnection
    ) throws -> [RequestID] {
        try database.requestIDs(
            """
            SELECT id FROM requests INDEXED BY requests_user
            WHERE user_hash = ? AND ended_at IS NULL \(condition) ORDER BY id
            """,
            [.blob(userHash)]
        )
    }

    /// Records an override of the guard; it replaces the one before.
    package func addGuardOverride(
        count: Int,
        until expiresAt: WallTime,
        uid: UInt32,
        at now: WallTime
    ) async throws {
        try await write { database, appender in
            let number = LedgerEntry.Value.number(Int64(count))
            appender.write("guard_overridden", [(.count, number)], by: uid, at: now)
            try database.run(
                "UPDATE guard_overrides SET expires_at = ?1 WHERE expires_at > ?1",
                [.time(now)]
            )
            try database.run(
                """
                INSERT INTO guard_overrides (allowed, created_at, expires_at, uid)
                VALUES (?, ?, ?, ?)
                """,
                [.int(count), .time(now), .time(expiresAt), .uid(uid)]
            )
        }
    }

    /// The override in force, if any is left.
    package func guardOverride(at now: WallTime) async throws -> GuardAllowance? {
        try await read { try Self.guardOverride(at: now, $0) }
    }

    static func guardOverride(
        at now: WallTime,
        _ database: any StateConnection
    ) throws -> GuardAllowance? {
        try database.first(
            """
            SELECT allowed - used AS remaining, expires_at FROM guard_overrides
            WHERE expires_at > ? AND used < allowed ORDER BY id DESC LIMIT 1
            """,
            [.time(now)]
        ) { GuardAllowance(purges: $0.int("remaining"), until: $0.time("expires_at")) }
    }

    /// Spending more of the override in force than is left spends it all.
    static func useGuardOverride(
        purges: Int,
        at now: WallTime,
        _ database: any StateConnection
    ) throws {
        try database.run(
            """
            UPDATE guard_overrides SET used = min(allowed, used + ?1) WHERE id =
              (SELECT max(id) FROM guard_overrides WHERE expires_at > ?2)
            """,
            [.int(purges), .time(now)]
        )
    }

    /// A small fact that outlives the process, such as the fingerprint of the hash key.
    package func note(_ name: String) async throws -> String? {
        try await read { try $0.fact("note:" + name) }
    }

    /// A small fact that each host has for itself.
    package func ownNote(_ name: String) async throws -> String? {
        try await note(ownName(name))
    }

    /// Records a small fact of this host; never personal, never secret.
    package func setOwnNote(_ name: String, to value: String) async throws {
        try await setNote(ownName(name), to: value)
    }

    func ownName(_ name: String) -> String { name + (backend.host.map { ":\($0)" } ?? "") }

    /// Records a small fact, or forgets it with `nil`; never personal, never secret.
    package func setNote(_ name: String, to value: String?) async throws {
        try await writer.perform { try $0.setFact("note:" + name, to: value) }
    }

    /// Records a count unless a lower one is there.
    package func lowerNote(_ name: String, to count: Int) async throws {
        try await writer.perform { database in
            let old = try database.fact("note:" + name).flatMap { Int($0) }
            if count < old ?? Int.max { try database.setFact("note:" + name, to: "\(count)") }
        }
    }

    /// Forgets how many rows were loose when an older state was the newest: there may be fewer now.
    package func forgetOrphans() async throws {
        try await writer.perform { try Self.forgetOrphans($0) }
    }

    private static func forgetOrphans(_ database: any StateConnection) throws {
        let prefix = "note:" + NoteName.orphans
        try database.run(
            "DELETE FROM meta WHERE key > ? AND key < ?",
            [.text(prefix), .text(prefix + "~")]
        )
    }

    /// The fact that a server took the place of one that had acknowledged more commits.
    static let lostCommits = "note:lost_commits"

    /// Whether that was noticed, and nobody has accepted it yet.
    package func hasLostCommits() async throws -> Bool {
        try await read { try $0.fact(Self.lostCommits) != nil }
    }

    /// Goes on with what is here now; an operator said so.
    package func acceptLostCommits() async throws {
        try await writer.perform { database in
            try Self.forgetOrphans(database)
            try database.setFact(Self.lostCommits, to: nil)
        }
    }
}

private enum UserHoldColumn: Int32, Columns {
    case userHash, reason, since, uid

    static let insertion = insertion(of: allCases, into: "user_holds")
}

extension UserHold {
    fileprivate init(_ row: Row<UserHoldColumn>) {
        userHash = row.blob(.userHash)
        (reason, since, uid) = (row.textOrNil(.reason), row.time(.since), row.uid(.uid))
    }
}
