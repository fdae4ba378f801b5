import Engine
import Lifecycle

extension QueueDatabase {
    /// Only a row that still has the content that was taken is marked: another one is read again.
    func mark(_ rows: [AcceptedRow]) async -> SpoolAnswer<Void> {
        guard !rows.isEmpty else { return .done(()) }
        let wanted = Dictionary(rows.map { ($0.row.rowID, $0) }) { _, last in last }
        return await change(.requests, wanted.keys.sorted()) { [hasher] found in
            let changes = found.compactMap { row -> QueueChange? in
                guard row.state == "submitted", let accepted = wanted[row.id],
                    SpoolRawRow(table: .requests, row).fingerprint(hasher)
                        == accepted.row.fingerprint
                else { return nil }
                return .show(
                    id: row.id,
                    request: "\(accepted.request)",
                    state: RequestState.accepted.rawValue,
                    detail: nil,
                    updatedAt: nil,
                    isErased: false
                )
            }
            return (changes, ())
        }
    }

    func settle(_ settlements: [CredentialSettlement]) async -> SpoolAnswer<Int> {
        guard let spoolID else { return .closed }
        let own = settlements.filter { $0.row.spoolID == spoolID }
        guard !own.isEmpty else { return .done(0) }
        let wanted = Dictionary(own.map { ($0.row.rowID, $0) }) { _, last in last }
        return await change(.credentials, wanted.keys.sorted()) { [hasher] found in
            var changedCount = 0
            var changes: [QueueChange] = []
            for row in found where row.state == "submitted" {
                guard let settlement = wanted[row.id] else { continue }
                let raw = SpoolRawRow(table: .credentials, row)
                guard raw.fingerprint(hasher) == settlement.row.fingerprint else {
                    changedCount += 1
                    continue
                }
                changes.append(
                    .scrub(
                        id: row.id,
                        state: settlement.rejection == nil ? "sealed" : "rejected",
                        detail: settlement.rejection?.rawValue
                    )
                )
            }
            return (changes, changedCount)
        }
    }

    func mirror(
        _ rows: ArraySlice<MirrorRow>,
        within time: Duration
    ) async -> SpoolAnswer<SpoolDatabase.MirrorCommit> {
        guard let spoolID else { return .closed }
        let first = rows.prefix(QueueLimits.commitMax)
        let own = first.filter { $0.spoolID == spoolID }
        var commit = SpoolDatabase.MirrorCommit()
        commit.handledCount = first.count
        commit.isCut = first.count < rows.count
        guard !own.isEmpty else { return .done(commit) }
        let beganAt = clock.uptime()
        let wanted = Dictionary(own.map { ($0.spoolRow, $0) }) { _, last in last }
        let answer = await change(.requests, wanted.keys.sorted()) { [hasher] found in
            var strangerCount = 0
            var changes: [QueueChange] = []
            for row in found {
                guard let shown = wanted[row.id] else { continue }
                let isKnown = shown.requestID.map { "\($0)" == row.requestID } ?? false
                guard
                    isKnown
                        || SpoolRawRow(table: .requests, row).fingerprint(hasher)
                            == shown.fingerprint
                else {
                    strangerCount += 1
                    continue
                }
                changes.append(QueueChange(shown))
            }
            return (changes, (strangers: strangerCount, written: changes.count))
        }
        let endedAt = clock.uptime()
        return answer.map { [commit] counts in
            var commit = commit
            (commit.strangerCount, commit.writtenCount) = (counts.strangers, counts.written)
            (commit.beganAt, commit.builtAt, commit.endedAt) = (beganAt, beganAt, endedAt)
            return commit
        }
    }

    private func change<Value: Sendable>(
        _ table: SpoolTable,
        _ ids: [Int64],
        _ decide: @escaping @Sendable ([QueueRow]) -> ([QueueChange], Value)
    ) async -> SpoolAnswer<Value> {
        guard isOpen else { return .closed }
        do throws(SpoolFailure) {
            return .done(try await server.change(table, rows: ids, decide))
        } catch {
            return answer(error)
        }
    }
}

extension QueueChange {
    init(_ row: MirrorRow) {
        self = .show(
            id: row.spoolRow,
            request: row.requestID.map { "\($0)" },
            state: row.state.rawValue,
            detail: row.detail,
            updatedAt: row.updatedAt.rfc3339,
            isErased: row.isErased
        )
    }
}
