import Engine
import Lifecycle

/// What the state keeps of runs.
extension SimulatedDisk {
    func openDeletions(begunIn names: Set<StoreName>) -> [RequestID: Bool] {
        requests.compactMapValues { row in
            let request = row.request
            guard !request.phase.isEnded, request.purgeStartedAt != nil else { return nil }
            let begun = request.purges.filter { names.contains($0.store) && $0.attempts > 0 }
            return begun.isEmpty ? nil : begun.contains { $0.step != .waiting }
        }
    }

    /// A deletion that completes is rechecked, and leaves a tombstone.
    mutating func noteEnd(of request: Request, user: Int) {
        guard request.phase == .completed, request.kind == .deleteAccount,
            let endedAt = request.endedAt,
            !runs.tombstones.contains(where: { $0.request == request.id })
        else { return }
        runs.tombstones.append(
            Tombstone(
                hash: Simulator.hash(of: user),
                erasedAt: endedAt,
                request: request.id,
                cutoff: request.cutoff
            )
        )
        if request.purges.contains(where: { $0.store == crm }) {
            runs.tombstones.append(
                Tombstone(
                    hash: Simulator.keyHash(of: user),
                    erasedAt: endedAt,
                    request: request.id,
                    cutoff: request.cutoff,
                    isKey: true
                )
            )
        }
        runs.records[request.id] = StoredRuns.Record(
            stage: 0,
            openedAt: endedAt,
            dueAt: endedAt + Simulator.recheckIntervals[0]
        )
    }

    mutating func close(_ ended: [EndedRecheck]) -> [EndedRecheck] {
        ended.filter { ended in
            let id = ended.due.sealed.request
            guard runs.records[id]?.dueAt == ended.due.dueAt else { return false }
            if let outcome = ended.recheck?.outcome {
                runs.outcomes[id, default: []].append(outcome)
            }
            switch ended.next {
            case .closed: runs.records[id] = nil
            case .due(let dueAt, let stage, let openedAt):
                runs.records[id]?.stage = stage
                runs.records[id]?.openedAt = openedAt
                runs.records[id]?.dueAt = dueAt
            }
            return true
        }
    }

    mutating func reopen(_ user: ReturnedUser, dueAt: WallTime, at now: WallTime) -> Bool {
        let id = user.request
        guard requests[id]?.request.phase == .completed, runs.records[id] == nil else {
            return false
        }
        runs.outcomes[id, default: []].append(.returned)
        // It is sealed anew.
        runs.unopened[id] = nil
        runs.records[id] = StoredRuns.Record(
            stage: 0,
            openedAt: now,
            dueAt: dueAt,
            isReopened: true,
            isNameless: user.user == nil,
            keyNames: Set(user.keys.map(\.name)).sorted { $0.key < $1.key },
            returnedTo: Set(user.found.map(\.store))
        )
        return true
    }

    mutating func record(_ ended: [EndedErasure], in name: StoreName) {
        for ended in ended {
            runs.begun[name]?.remove(ended.begun)
            guard ended.rows > 0 || ended.isResumed else { continue }
            runs.replayed.append((ended.begun.request, name, ended.isResumed))
        }
    }

    var usersOnHold: UsersOnHold {
        let users = runs.usersOnHold
        guard !users.isEmpty else { return UsersOnHold() }
        let held = requests.values.filter { users.contains($0.user) }
        return UsersOnHold(
            hashes: Set(users.map(Simulator.hash)),
            requests: Set(held.map(\.request.id))
        )
    }
}

extension DueRecheck {
    init(_ record: StoredRuns.Record, of request: Request) {
        self.init(
            sealed: SealedRecheck(
                request: request.id,
                keyID: "",
                recheckKey: [],
                sealedUser: []
            ),
            stage: record.stage,
            openedAt: record.openedAt,
            dueAt: record.dueAt,
            cutoff: request.cutoff,
            stores: request.purges.map(\.store),
            isReopened: record.isReopened,
            isNameless: record.isNameless,
            keyNames: record.keyNames,
            returnedTo: record.returnedTo
        )
    }
}
