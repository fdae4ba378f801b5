package import Engine
package import Lifecycle

/// A bucket of Google Cloud Storage.
///
/// Every generation of a user's objects goes. What a lock protects, what is deleted softly and
/// what is being uploaded are residual copies.
package struct CloudStorageStore: ObjectStore, GoogleStore {
    /// cloud.google.com/storage/docs/oauth-scopes.
    static let scopes = ["https://www.googleapis.com/auth/devstorage.read_write"]
    /// The address of an unfinished upload is good for a week
    /// (cloud.google.com/storage/docs/resumable-uploads, "Session URIs").
    static let uploadLifetime = Duration.seconds(7 * 86_400)

    package let name: StoreName
    /// Not empty.
    let templates: [KeyTemplate]
    let session: GoogleSession
    let bucket: CloudBucket

    package func purge(_ orders: [PurgeOrder]) async -> [PurgeAnswer] {
        await swept(orders) { sweep throws(CallFailure) in
            let end = clock.wall() + Self.uploadLifetime
            let uploads = PurgeCounts.ResidualCopies(.unfinishedUploads, bucket.name, until: end)
            return [try await softDeleted(sweep.places.map(\.own)), uploads].compactMap(\.self)
        }
    }

    /// Whether the bucket is there and permits what a purge needs.
    package func inspect(withOutages: Bool) async -> StoreFindings {
        var problems = await problems(withOutages: withOutages)
        if withOutages { problems += await gaps() }
        return StoreFindings(problems: problems)
    }

    /// What the bucket keeps of what was deleted, now or before; `nil` when it keeps nothing.
    ///
    /// - Throws: ``CallFailure`` for what waiting mends: the date is worth another try.
    private func softDeleted(
        _ prefixes: [String]
    ) async throws(CallFailure) -> PurgeCounts.ResidualCopies? {
        var retention: Duration?
        do throws(CallFailure) {
            let kept = try await bucket.softDeletion()
            retention = kept
            guard kept > .zero else { return nil }
            var end = WallTime.distantPast
            for prefix in prefixes {
                end = max(end, try await bucket.softDeletionEnd(prefix, retention: kept) ?? end)
            }
            return end == .distantPast ? nil : softDeleted(until: end)
        } catch {
            guard error.failure == .misconfigured else { throw error }
            let until = retention.map { clock.wall() + $0 }
            return softDeleted(until: until)
        }
    }

    private func softDeleted(until: WallTime?) -> PurgeCounts.ResidualCopies {
        PurgeCounts.ResidualCopies(.softDeletedObjects, bucket.name, until: until)
    }
}

extension CloudStorageStore {
    /// Tries what a purge does on objects that nobody has; one sentence per problem.
    private func problems(withOutages: Bool) async -> [String] {
        let nobody = UserID.nobody()
        let place = "the bucket '\(bucket.name)'"
        var problems: [String] = []
        for template in templates {
            guard let own = template.key(of: nobody) else { continue }
            do throws(CallFailure) {
                _ = try await bucket.page(.generations, of: own, from: nil)
                _ = try await bucket.page(.live, of: own, from: nil)
            } catch {
                return error.findings(at: place, withOutages: withOutages)
            }
            let probe = ObjectVersion(key: own, id: "1", date: .distantPast)
            guard case .failure(let failure) = await bucket.delete(probe) else { continue }
            problems +=
                failure == .misconfigured
                ? ["deleting below '\(template)' is refused (storage.objects.delete)"]
                : CallFailure(failure).findings(at: place, withOutages: withOutages)
        }
        return problems
    }

    /// What keeps receipts from being exact, and no purge from being made.
    private func gaps() async -> [String] {
        do throws(CallFailure) {
            _ = try await bucket.softDeletion()
            return []
        } catch {
            guard error.failure == .misconfigured else { return [] }
            return [
                "the settings of the bucket cannot be read (storage.buckets.get): receipts do not"
                    + " state when soft-deleted objects are gone"
            ]
        }
    }
}
