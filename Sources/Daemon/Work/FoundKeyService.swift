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
    /// Only what a replay finds is reported.
    private(set) var isLateOnly = false

    var late: any FoundKeyStore {
        var service = self
        service.isLateOnly = true
        return service
    }

    func add(_ found: [FoundKeys]) async -> EffectFailure? {
        do {
            let open = try await state.open(among: Array(Set(found.map(\.request))))
            // What a replay finds is used up by itself.
            let sealed = try await seal(found) { $0.isLate == !open.contains($0.sealed.request) }
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
                for var keys in try await seal(found, besides: { !$0.isLate }) {
                    keys.hashes = []
                    sealed.append(keys)
                }
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

    /// Seals what is not kept yet: a row for each request and name with new ids.
    ///
    /// `isKept` decides whether a stored row counts.
    private func seal(
        _ found: [FoundKeys],
        besides isKept: (StoredKeys) -> Bool
    ) async throws -> [SealedKeys] {
        let requests = Array(Set(found.map(\.request)))
        var sealed: [SealedKeys] = []
        for (name, found) in Dictionary(grouping: found, by: \.name) {
            let stored = try await state.foundKeys(of: requests, as: name)
            for (request, found) in Dictionary(grouping: found, by: \.request) {
                let ids = Set(found.flatMap(\.ids))
                let rows = (stored[request] ?? []).filter(isKept)
                let known = try rows.reduce(into: Set()) { known, row in
                    known.formUnion(try vault.openKeys(row.sealed).ids)
                }
                let new = ids.subtracting(known)
                guard rows.isEmpty || !new.isEmpty else { continue }
                let keys = FoundKeys(request: request, name: name, ids: Array(new))
                var row = try vault.sealKeys(keys)
                if found.contains(where: \.isOwn) {
                    row.hashes = keys.ids.map { hasher.tombstone(of: $0, as: name) }
                }
                sealed.append(row)
            }
        }
        return sealed
    }

    func keys(of requests: [RequestID], as name: KeyName) async -> [RequestID: KeysAnswer] {
        do {
            return try await state.foundKeys(of: requests, as: name).compactMapValues { rows in
                let rows = isLateOnly ? rows.filter(\.isLate) : rows
                guard !rows.isEmpty else { return nil }
                do throws(VaultError) {
                    var ids: Set<UserID> = []
                    for row in rows { ids.formUnion(try vault.openKeys(row.sealed).ids) }
                    return .found(ids.sorted { $0.exposeText() < $1.exposeText() })
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
        case let error as VaultError where error.kind == .broken: return .sealBroken
        case is VaultError: return .vaultSealed
        case is CancellationError: return .lost
        default:
            logger.note(.operationFailed, ["step": "keep_keys", "error": "\(error)"])
            return .unusable
        }
    }
}
