package import Engine
package import Lifecycle

/// A bucket of Amazon S3 or of a server that speaks its protocol.
///
/// Every version, delete marker and unfinished upload of a user goes; what a lock protects is a
/// residual copy.
package struct S3Store: ObjectStore {
    package let name: StoreName
    /// Not empty.
    let templates: [KeyTemplate]
    let bucket: S3Bucket
    let clock: StoreClock

    /// Whether the bucket is there and permits what a purge needs.
    package func inspect(withOutages: Bool) async -> StoreFindings {
        StoreFindings(problems: await problems(withOutages: withOutages))
    }

    package func shutdown() async { await bucket.client.shutdown() }
}

extension S3Store {
    /// Tries everything that a purge does on keys that nobody has.
    ///
    /// - Returns: One sentence per problem; what waiting mends is one only `withOutages`.
    private func problems(withOutages: Bool) async -> [String] {
        let nobody = UserID.nobody()
        var problems: [String] = []
        for template in templates {
            guard let key = template.key(of: nobody) else { continue }
            do throws(CallFailure) {
                problems += try await self.problems(of: template, key)
            } catch {
                let isRefused = error.failure == .misconfigured
                return isRefused || withOutages ? [advice(error.failure)] : []
            }
        }
        do throws(CallFailure) {
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
    ) async throws(CallFailure) -> [String] {
        // Nothing works without it, and most often it is the bucket or the keys.
        _ = try await bucket.page(.versions, of: key, from: nil)
        let probe = ObjectVersion(key: key, id: "null", date: .distantPast)
        var problems: [String] = []
        if try await CallFailure.isRefused({ () throws(CallFailure) in
            _ = try await bucket.page(.objects, of: key, from: nil)
        }) {
            problems.append("listing objects below '\(template)' is refused (s3:ListBucket)")
        }
        if try await CallFailure.isRefused({ () throws(CallFailure) in
            _ = try await bucket.page(.uploads, of: key, from: nil)
        }) {
            problems.append(
                "listing uploads below '\(template)' is refused (s3:ListBucketMultipartUploads)"
            )
        }
        if try await CallFailure.isRefused({ () throws(CallFailure) in
            guard try await bucket.refused([probe]).isEmpty else {
                throw CallFailure(.misconfigured)
            }
        }) {
            problems.append(
                "deleting below '\(template)' is refused (s3:DeleteObject, s3:DeleteObjectVersion)"
            )
        }
        return problems
    }

    private func advice(_ failure: EffectFailure) -> String {
        switch failure {
        case .unreachable: "no connection, or no certificate for the host (endpoint, ca_file)"
        case .lost: "the server did not answer in time (timeout)"
        case .throttled: "the server asks for a pause"
        case .misconfigured:
            "the server refuses to list the versions of bucket '\(bucket.name)': bucket, region,"
                + " url_style, keys or s3:ListBucketVersions"
        case .unusable, .rejected, .refused, .refusesAll, .sealBroken, .vaultSealed, .keys,
            .blocked, .notConfigured:
            "the server's answer is none of S3 (endpoint, url_style)"
        }
    }
}
