import Engine
import Lifecycle
import Testing
import Vault

@testable import Daemon

@Suite("Opening the vault at the start") struct VaultSetupTests {
    @Test("a key that does not open what is stored stops the start and is named")
    func wrongKey() async throws {
        let bench = try Bench()
        let former = SealedVault(keyring: VaultKeyring(active: try Bench.key(1)))
        _ = try await bench.service(former).store([bench.offer("alice", "token-1")])
        try bench.writeKey("vault-key", filler: 2)
        do {
            _ = try await bench.setup().open(for: bench.state)
            Issue.record("it started")
        } catch let error as DaemonError {
            #expect(error.kind == .credential && error.exitStatus == .configuration)
            let former = try Bench.key(1).id
            #expect(error.description.contains("sealed under key '\(former)'"))
            #expect(error.description.contains("vault.retired_key_credentials"))
            #expect(error.description.contains("vault.lost_key_ids"))
        }
        #expect(bench.log.all.isEmpty)
    }

    @Test("the right key, the former one beside the new one, and an accepted loss all start")
    func rightKey() async throws {
        let bench = try Bench()
        let former = SealedVault(keyring: VaultKeyring(active: try Bench.key(1)))
        _ = try await bench.service(former).store([bench.offer("alice", "token-1")])
        try bench.writeKey("vault-key", filler: 1)
        #expect(try await bench.setup().open(for: bench.state).activeKeyID == Bench.key(1).id)
        try bench.writeKey("new", filler: 2)
        let both = #"""
            key_credential = "new"
            retired_key_credentials = ["vault-key"]
            """#
        #expect(try await bench.setup(both).open(for: bench.state).activeKeyID == Bench.key(2).id)
        let lost = #"""
            key_credential = "new"
            lost_key_ids = ["\#(try Bench.key(1).id)"]
            """#
        #expect(try await bench.setup(lost).open(for: bench.state).isOpen)
    }

    @Test("without any key the service starts sealed, whatever is stored")
    func noKey() async throws {
        let bench = try Bench()
        let former = SealedVault(keyring: VaultKeyring(active: try Bench.key(1)))
        _ = try await bench.service(former).store([bench.offer("alice", "token-1")])
        #expect(try await !bench.setup().open(for: bench.state).isOpen)
        #expect(bench.log.all.first?.hasPrefix("vaultSealed") == true)
    }
}
