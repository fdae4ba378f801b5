import HTTP
import Lifecycle
import Logging
import NIOPosix

@testable import Stores

extension AWSClient {
    /// A client with the key `owner` that waits for a stand-in under any load.
    static func patient(
        of service: String,
        at url: String,
        secret: String,
        caFile: String? = nil,
        now: @escaping @Sendable () -> WallTime = { present }
    ) throws -> AWSClient {
        var settings = RemoteSettings(owner: .store(StoreName("aws")), caFile: caFile)
        settings.concurrency = 8
        settings.answerMax = 8 << 20
        settings.timeoutConnect = .seconds(120)
        settings.timeoutTotal = .seconds(120)
        let keys = AWSSigner.Keys(accessKeyID: "owner", secretKey: Secret(secret))
        return try AWSClient(
            AWSSigner(keys: keys, region: "us-east-1", service: service),
            at: url,
            accept: "*/*",
            settings,
            in: AdapterEnvironment(
                credential: { _, _ in Secret(secret) },
                signer: { _, _, _ in throw StoreSetupError("no signer") },
                eventLoopGroup: MultiThreadedEventLoopGroup.singleton,
                now: now,
                logger: Logger(label: "test")
            )
        )
    }
}
