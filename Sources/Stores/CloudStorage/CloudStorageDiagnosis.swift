import Lifecycle

/// Tries what a purge does on objects that nobody has.
struct CloudStorageDiagnosis {
    private let plan: CloudStorageTargetPlan
    private let bucket: CloudBucket

    init(_ plan: CloudStorageTargetPlan, _ bucket: CloudBucket) {
        self.plan = plan
        self.bucket = bucket
    }

    /// One sentence per problem; what waiting mends is one only `withOutages`.
    func problems(withOutages: Bool = true) async -> [String] {
        let nobody = UserID.nobody()
        var problems: [String] = []
        for template in plan.templates {
            guard let own = template.key(of: nobody) else { continue }
            do throws(GoogleFailure) {
                _ = try await bucket.page(.generations(prefix: own), from: nil)
                _ = try await bucket.page(.live(prefix: own), from: nil)
            } catch {
                guard withOutages || error.failure == .misconfigured else { return [] }
                return [GoogleFailure.sentence(error.failure, "the bucket '\(plan.bucket)'")]
            }
            let probe = CloudBucket.Version(
                name: own,
                generation: "1",
                createdAt: .distantPast,
                lock: nil
            )
            guard case .failure(let failure) = await bucket.delete(probe) else { continue }
            if failure == .misconfigured {
                problems.append(
                    "deleting below '\(template)' is refused (storage.objects.delete)"
                )
            } else if withOutages {
                problems.append(GoogleFailure.sentence(failure, "the bucket '\(plan.bucket)'"))
            }
        }
        return problems
    }

    /// What keeps receipts from being exact, and no purge from being made.
    func gaps() async -> [String] {
        do throws(GoogleFailure) {
            _ = try await bucket.softDeletion()
            return []
        } catch {
            guard error.failure == .misconfigured else { return [] }
            return [
                "the settings of the bucket cannot be read (storage.buckets.get): receipts do not"
                    + " tell when soft-deleted objects are gone"
            ]
        }
    }
}
