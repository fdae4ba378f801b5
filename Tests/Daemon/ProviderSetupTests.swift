import FoundationEssentials
import Glibc
import Lifecycle
import NIOPosix
import Providers
import Systemd
import Testing

@testable import Daemon

@Suite("Credentials of providers") struct ProviderSetupTests {
    @Test(
        "a client secret is read as it is, with or without a line's end",
        arguments: ["app-secret", "app-secret\n", "app-secret\r\n"]
    )
    func clientSecret(text: String) throws {
        let bench = try Bench()
        let path = bench.directory + "/secret"
        try Data(text.utf8).write(to: URL(filePath: path))
        #expect(unsafe chmod(path, 0o600) == 0)
        let factory = AdapterFactory(
            credentials: CredentialDirectory(path: bench.directory),
            hasher: bench.hasher,
            eventLoopGroup: MultiThreadedEventLoopGroup.singleton,
            now: { Bench.start },
            logger: bench.log.logger
        )
        let provider = try #require(try Bench.configuration().providers.first)
        let secret = try ProviderSetup(provider, in: factory.environment).secret("secret")
        #expect(secret.isEqual(to: Secret("app-secret")))
    }
}
