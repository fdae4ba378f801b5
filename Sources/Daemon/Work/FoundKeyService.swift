import Engine
import Lifecycle
import Logging
import Storage
import Vault

/// Seals and keeps the ids that one store names and another knows the user by.
struct FoundKeyService: FoundKeyStore {
    let state: StateDatabase
    let vault: SealedVault
    let hasher: any KeyedHasher
    let logger: Logger
    /// Which rows ``keys(of:as:)`` reads.
    private(set) var reading = FoundKeyMerge.all

    var late: any FoundKeyStore {
        var service = self
        service.reading = .late
        return service
    }

    func add(_ found: [FoundKeys]) async -> EffectFailure? {
        do {
            let open = try await state.open(among: Array(Set(found.map(\.request))))
            let sealed = try await seal(found, .found(open: open))
            if !sealed.isEmpty { try await state.addFoundKeys(sealed) }
            return nil
        } catch {
            return failure(error)
        }
    }

    /// Seals ids for reopened recheck records, without those that they have already.
    func sealForRechecks(_ found: [FoundKeys]) async -> [SealedKeys] {
        var sealed: [SealedKeys] = []
        // One by one: a row that does not open stops its own request alone.
        for found in Dictionary(grouping: found, by: \.request).values {
            do {
                sealed += try await seal(found, .reopened)
            } catch {
                logger.note(
                    .operationFailed,
                    [
                        "step": "keep_found_ids", "request.id": "\(found[0].request)",
                        "error": "\(error)",
                    ]
                )
            }
        }
        return sealed
    }

    private func seal(
        _ found: [FoundKeys],
        _ merge: FoundKeyMerge
    ) async throws -> [SealedKeys] {
        var rows: [FoundKeys] = []
        for (name, found) in Dictionary(grouping: found, by: \.name) {
            let requests = Array(Set(found.map(\.request)))
            for stored in try await state.foundKeys(of: requests, as: name).values {
                rows += try open(stored, merge)
            }
        }
        return try merge.added(found, besides: rows).map { keys throws(VaultError) in
            var row = try vault.sealKeys(keys)
            if keys.isOwn { row.hashes = keys.ids.map { hasher.tombstone(of: $0, as: keys.name) } }
            return row
        }
    }

    /// Opens only the rows that count: a damaged one of another kind stops nothing.
    private func open(
        _ stored: [StoredKeys],
        _ merge: FoundKeyMerge
    ) throws(VaultError) -> [FoundKeys] {
        var rows: [FoundKeys] = []
        for row in stored where merge.counts(isLate: row.isLate, of: row.sealed.request) {
            rows.append(try vault.openKeys(row.sealed))
        }
        return rows
    }

    func keys(of requests: [RequestID], as name: KeyName) async -> [RequestID: KeysAnswer] {
        do {
            return try await state.foundKeys(of: requests, as: name).compactMapValues { stored in
                do throws(VaultError) {
                    return FoundKeyMerge.ids(of: try open(stored, reading)).map { .found($0) }
                } catch {
                    return .failure(failure(error))
                }
            }
        } catch {
            let failure = failure(error)
            return Dictionary(requests.map { ($0, .failure(failure)) }) { first, _ in first }
        }
    }

    /// Whatever it is, nothing of the user is purged meanwhile.
    private func failure(_ error: any Error) -> EffectFailure {
        switch error {
        case let error as VaultError: return error.failure
        case is CancellationError: return .lost
        default:
            logger.note(.operationFailed, ["step": "keep_keys", "error": "\(error)"])
            return .unusable
        }
    }
}
