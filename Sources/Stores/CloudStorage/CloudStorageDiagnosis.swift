import Lifecycle

/// Tries what a purge does on objects that nobody has.
struct CloudStorageDiagnosis {
    let plan: CloudStorageTargetPlan
    let bucket: CloudBucket

    /// One sentence per problem.
    func problems(withOutages: Bool) async -> [String] {
        let nobody = UserID.nobody()
        let place = "the bucket '\(plan.bucket)'"
        var problems: [String] = []
        for template in plan.templates {
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
    func gaps() async -> [String] {
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
