import Lifecycle

/// Tries everything that a purge does on keys that nobody has.
struct S3Diagnosis {
    private let plan: S3TargetPlan
    private let bucket: S3Bucket

    init(_ plan: S3TargetPlan, _ bucket: S3Bucket) {
        self.plan = plan
        self.bucket = bucket
    }

    /// One sentence per problem; what waiting mends is one only `withOutages`.
    func problems(withOutages: Bool = true) async -> [String] {
        let nobody = UserID.nobody()
        var problems: [String] = []
        for template in plan.templates {
            guard let key = template.key(of: nobody) else { continue }
            do throws(S3Error) {
                problems += try await self.problems(of: template, key)
            } catch {
                return error.kind == .refused || withOutages ? [advice(error)] : []
            }
        }
        do throws(S3Error) {
            if try await bucket.wantsSecondFactor() {
                problems.append("the bucket wants a second factor for deletions (MFA delete)")
            }
        } catch {
            // Only the owner may ask for it in some set-ups; a purge would tell.
            return problems
        }
        return problems
    }

    private func problems(
        of template: KeyTemplate,
        _ key: String
    ) async throws(S3Error) -> [String] {
        var problems: [String] = []
        if try await isRefused({ () throws(S3Error) in _ = try await bucket.versions(key) }) {
            // Nothing works without it, and most often it is the bucket or the keys.
            throw S3Error(.refused, target: plan.name)
        }
        if try await isRefused({ () throws(S3Error) in _ = try await bucket.objects(key) }) {
            problems.append("listing objects below '\(template)' is refused (s3:ListBucket)")
        }
        if try await isRefused({ () throws(S3Error) in _ = try await bucket.uploads(key) }) {
            problems.append(
                "listing uploads below '\(template)' is refused (s3:ListBucketMultipartUploads)"
            )
        }
        let probe = S3Bucket.Version(
            key: key,
            id: "null",
            modifiedAt: WallTime(unixMilliseconds: 0)
        )
        if try await isRefused({ () throws(S3Error) in
            guard try await bucket.delete([probe]).isEmpty else {
                throw S3Error(.refused, target: plan.name)
            }
        }) {
            problems.append(
                "deleting below '\(template)' is refused (s3:DeleteObject, s3:DeleteObjectVersion)"
            )
        }
        return problems
    }

    private func isRefused(
        _ body: () async throws(S3Error) -> Void
    ) async throws(S3Error) -> Bool {
        do throws(S3Error) {
            try await body()
            return false
        } catch {
            guard error.kind == .refused else { throw error }
            return true
        }
    }

    private func advice(_ error: S3Error) -> String {
        switch error.kind {
        case .unreachable: "no connection, or no certificate for the host (endpoint, ca_file)"
        case .lost: "the server did not answer in time (timeout)"
        case .throttled: "the server asks for a pause"
        case .refused:
            "the server refuses to list the versions of bucket '\(plan.bucket)': bucket, region,"
                + " url_style, keys or s3:ListBucketVersions"
        case .absent, .unusable: "the server's answer is none of S3 (endpoint, url_style)"
        }
    }
}
