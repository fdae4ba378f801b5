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
        let diagnosis = S3Diagnosis(templates: templates, bucket: bucket)
        return StoreFindings(problems: await diagnosis.problems(withOutages: withOutages))
    }

    package func shutdown() async { await bucket.client.shutdown() }
}
