import CSQLiteGuard
import Engine
import Foundation
import GRDB
import Lifecycle
import Synchronization

@testable import Stores

/// A database of an application in a folder of its own, written by an unguarded connection.
final class AppDatabase: Sendable {
    let folder: String
    let path: String
    let queue: DatabaseQueue
    let notes = StandInNotes()

    init(_ schema: String, wal: Bool = false, name: String = "app.db") throws {
        guard csqliteguard_install() == 0 else { throw Missing() }
        folder = FileManager.default.temporaryDirectory.path + "/stores-" + UUID().uuidString
        try FileManager.default.createDirectory(
            atPath: folder,
            withIntermediateDirectories: true
        )
        path = folder + "/" + name
        var configuration = Configuration()
        configuration.busyMode = .timeout(300)
        configuration.foreignKeysEnabled = true
        queue = try DatabaseQueue(path: path, configuration: configuration)
        if wal {
            try queue.writeWithoutTransaction { try $0.execute(sql: "PRAGMA journal_mode = WAL") }
        }
        try queue.writeWithoutTransaction { try $0.execute(sql: schema) }
    }

    deinit {
        do {
            try queue.close()
            try FileManager.default.removeItem(atPath: folder)
        } catch {
            Swift.print("cannot remove \(folder), ignoring")
        }
    }

    /// A connection that may keep a transaction open between two calls.
    func secondConnection() throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.allowsUnsafeTransactions = true
        return try DatabaseQueue(path: path, configuration: configuration)
    }

    func execute(_ sql: String) throws {
        try queue.writeWithoutTransaction { try $0.execute(sql: sql) }
    }

    func integer(_ sql: String) throws -> Int {
        try queue.read { try Int.fetchOne($0, sql: sql) } ?? -1
    }

    func texts(_ sql: String) throws -> [String] {
        try queue.read { db in
            try Row.fetchAll(db, sql: sql).map { row in
                row.databaseValues.map { "\($0)" }.joined(separator: "|")
            }
        }
    }

    /// A store with manual time over this database.
    func store(
        _ rules: TableRule...,
        triggers: TriggerPolicy = .checked,
        vacuum: VacuumPolicy = .off,
        clock: StoreClock = .still()
    ) -> SQLiteStore {
        SQLiteStore(
            plan: SQLiteStorePlan(
                name: StoreName("app-db"),
                path: path,
                rules: rules,
                triggers: triggers,
                vacuum: vacuum
            ),
            hasher: StandInHasher(),
            clock: clock
        )
    }
}

struct Missing: Error {}

/// A hash that is no hash, but keyed by domain and different for different texts.
struct StandInHasher: KeyedHasher {
    func hash(_ text: String, domain: HashDomain) -> [UInt8] {
        var state: UInt64 = 14_695_981_039_346_656_037
        var bytes: [UInt8] = []
        for round in 0..<4 {
            for byte in "\(domain)\(round)\(text)".utf8 {
                state = (state ^ UInt64(byte)) &* 1_099_511_628_211
            }
            bytes += (0..<8).map { UInt8(truncatingIfNeeded: state >> ($0 * 8)) }
        }
        return bytes
    }
}

/// 2026-01-01T00:00:00Z, the present of these tests.
let present = WallTime(unixMilliseconds: 1_767_225_600_000)

extension StoreClock {
    /// Time stands still; every transaction takes as much as it can.
    static func still(
        rest: @escaping @Sendable (Duration) async throws -> Void = { _ in }
    ) -> StoreClock {
        StoreClock(
            wall: { present },
            uptime: { .zero },
            rest: rest,
            entropy: { 0x0123_4567_89ab_cdef }
        )
    }

    /// Every look at the clock takes 30 ms, so every transaction is over after one piece of work.
    static func hasty(
        rest: @escaping @Sendable (Duration) async throws -> Void = { _ in }
    ) -> StoreClock {
        let ticks = Ticks()
        return StoreClock(
            wall: { present },
            uptime: { .milliseconds(30 * ticks.value.wrappingAdd(1, ordering: .relaxed).newValue) },
            rest: rest,
            entropy: { 7 }
        )
    }

    /// Real time that goes by slowly for a store, so that none of its own limits ends what a busy
    /// machine only holds up.
    static func patient(
        wall: @autoclosure @escaping @Sendable () -> WallTime = present,
        rest: (@Sendable (Duration) async throws -> Void)? = nil,
        slowedBy factor: Int = 24
    ) -> StoreClock {
        let real = StoreClock.system(wall: wall)
        return StoreClock(
            wall: wall,
            uptime: { real.uptime() / factor },
            rest: rest ?? real.rest,
            entropy: real.entropy
        )
    }

    /// Real monotonic time.
    static func real() -> StoreClock { .system(wall: { present }) }
}

final class Ticks: Sendable {
    let value = Atomic<Int64>(0)
}

func order(
    _ user: String,
    cutoff: WallTime = present,
    holds: [StoreHold] = []
) -> PurgeOrder {
    let id = TimeOrderedID(high: 1, low: 2)
    guard let user = UserID(user) else { preconditionFailure("bad user id in a test") }
    return PurgeOrder(request: RequestID(id), user: user, cutoff: cutoff, holds: holds)
}

extension PurgeStore {
    /// Whether the next purge leaves nothing; it fails while a server holds the locks of a session
    /// that was cut.
    func finishes(_ order: PurgeOrder) async -> Bool {
        for _ in 0..<1000 {
            guard case .failure = await purge([order]).first else { break }
        }
        return await verify([order]) == [.clean]
    }
}

extension PurgeAnswer {
    /// `posts delete, cutoff: none 3` for each entry; newer counts behind a plus.
    var text: String {
        switch self {
        case .stopped: "stopped"
        case .failure(let failure): failure.code
        case .done(let counts), .held(let counts, _), .halted(let counts):
            counts.entries.map { entry in
                "\(entry.name) \(entry.action.text) \(entry.rowCount)"
                    + (entry.newerCount > 0 ? "+\(entry.newerCount)" : "")
            }.joined(separator: "; ")
        }
    }
}

extension PurgeCounts.Action {
    fileprivate var text: String {
        let cascade = details?.parent.map { " by cascade from \($0)" } ?? ""
        let reason = details?.reason.map { ": \($0)" } ?? ""
        let part = details?.part.map { ", \($0)" } ?? ""
        let cutoff = details?.hasNoTimestamps == true ? ", cutoff: none" : ""
        let rows =
            switch details?.rows {
            case .undated: ", undated rows"
            case .noSuchID: ", no such id"
            case .all, nil: ""
            }
        return code.rawValue + cascade + reason + part + cutoff + rows
    }
}
