package import Engine
import HTTP
package import Lifecycle
import Logging
import NIOCore

/// A bucket of Amazon S3 or of a server that speaks its protocol.
///
/// Every version, delete marker and unfinished upload of a user goes; what a lock protects is a
/// residual copy.
package struct S3Store: ObjectStore {
    package let name: StoreName
    let bucket: S3Bucket
    let clock: StoreClock
    private let plan: S3StorePlan
    private let client: S3Client

    var templates: [KeyTemplate] { plan.templates }

    /// - Throws: ``HTTP/SetupError`` for an endpoint or certificate file that cannot be used.
    init(
        plan: S3StorePlan,
        on group: any EventLoopGroup,
        clock: StoreClock,
        logger: Logger
    ) throws(SetupError) {
        name = plan.name
        self.plan = plan
        self.clock = clock
        client = try S3Client(plan, on: group, now: clock.wall, logger: logger)
        bucket = S3Bucket(
            client: client,
            name: plan.bucket,
            pageSize: plan.pageSize,
            now: clock.wall
        )
    }

    /// Whether the bucket is there and permits what a purge needs.
    package func inspect(withOutages: Bool) async -> StoreFindings {
        let diagnosis = S3Diagnosis(plan: plan, bucket: bucket)
        return StoreFindings(problems: await diagnosis.problems(withOutages: withOutages))
    }

    package func shutdown() async { await client.shutdown() }
}
