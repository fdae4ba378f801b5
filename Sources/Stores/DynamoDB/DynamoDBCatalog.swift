import Encoding
import HTTP
import Lifecycle
import Synchronization

/// The shapes of the tables and what keeps deleted items for a while, read once in a while.
final class DynamoDBCatalog: Sendable {
    private struct Entry {
        let table: DynamoDBTable
        let readAt: Duration
        /// What is known of copies, with how long they last from a deletion.
        var copies: [Copy]?
    }

    /// What keeps deleted items of a table.
    private struct Copy {
        let phrase: ResidualPhrase
        /// `nil` when it does not end by itself.
        let lifetime: Duration?
    }

    private let client: DynamoDBClient
    private let clock: StoreClock
    private let entries = Mutex<[String: Entry]>([:])

    init(_ client: DynamoDBClient, clock: StoreClock) {
        (self.client, self.clock) = (client, clock)
    }

    func table(_ name: String) async throws(CallFailure) -> DynamoDBTable {
        if let entry = entry(name) { return entry.table }
        let answer = try await client.send("DescribeTable", ["TableName": .string(name)])
        guard let table = DynamoDBTable(answer), table.name == name else {
            throw CallFailure(.unusable)
        }
        let entry = Entry(table: table, readAt: clock.uptime())
        entries.withLock { $0[name] = entry }
        return table
    }

    /// Copies of what is deleted from a table now: backups, recovery and the stream.
    ///
    /// Where the key may not ask, the longest ones are named.
    ///
    /// - Throws: ``CallFailure`` when the server cannot be asked.
    func copies(of name: String) async throws(CallFailure) -> [PurgeCounts.ResidualCopies] {
        let table = try await table(name)
        var copies = entry(name)?.copies
        if copies == nil {
            let read = try await self.read(table)
            entries.withLock { $0[name]?.copies = read }
            copies = read
        }
        return (copies ?? []).map { copy in
            let end = copy.lifetime.map { clock.wall() + $0 }
            return PurgeCounts.ResidualCopies(copy.phrase, name, until: end)
        }
    }

    private func entry(_ name: String) -> Entry? {
        let now = clock.uptime()
        return entries.withLock { entries in
            entries[name].flatMap { now - $0.readAt < DynamoDBLimits.catalogLifetime ? $0 : nil }
        }
    }

    private func read(_ table: DynamoDBTable) async throws(CallFailure) -> [Copy] {
        var copies: [Copy] = []
        if let lifetime = try await recovery(table.name) {
            copies.append(Copy(phrase: .tableRecovery, lifetime: lifetime))
        }
        if try await hasBackups(table.name) {
            copies.append(Copy(phrase: .tableBackups, lifetime: nil))
        }
        if table.hasStream {
            copies.append(
                Copy(phrase: .tableStream, lifetime: DynamoDBLimits.streamRetention)
            )
        }
        return copies
    }

    /// How far point-in-time recovery goes back; `nil` where it is off.
    private func recovery(_ name: String) async throws(CallFailure) -> Duration? {
        var found: JSONValue?
        let isRefused = try await CallFailure.isRefused { () throws(CallFailure) in
            let answer = try await client.send(
                "DescribeContinuousBackups",
                ["TableName": .string(name)]
            )
            found = answer.member(
                at: "ContinuousBackupsDescription.PointInTimeRecoveryDescription"
            )
        }
        guard !isRefused else { return DynamoDBLimits.recoveryMax }
        guard found?["PointInTimeRecoveryStatus"]?.string == "ENABLED" else { return nil }
        guard let days = found?["RecoveryPeriodInDays"]?.number, (1...35).contains(days) else {
            return DynamoDBLimits.recoveryMax
        }
        return .seconds(Int64(days) * 86_400)
    }

    private func hasBackups(_ name: String) async throws(CallFailure) -> Bool {
        var hasSome = false
        let isRefused = try await CallFailure.isRefused { () throws(CallFailure) in
            let answer = try await client.send(
                "ListBackups",
                ["TableName": .string(name), "BackupType": "ALL", "Limit": 1]
            )
            hasSome = answer["BackupSummaries"]?.array?.isEmpty == false
        }
        return isRefused || hasSome
    }
}
