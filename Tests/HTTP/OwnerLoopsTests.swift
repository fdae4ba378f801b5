import Lifecycle
import NIOCore
import Testing

@testable import HTTP

@Suite("Event loops of owners") struct OwnerLoopsTests {
    @Test("an owner has one of its own, and every client of it has the same")
    func ownLoops() {
        let loops = OwnerLoops()
        let owners: [RemoteOwner] = [
            .provider(ProviderName("a")), .provider(ProviderName("b")),
            .directory(ProviderName("a")), .store(StoreName("a")),
            .subscriber(SubscriberName("a")), .queue("a"),
        ]
        let made = owners.map { ObjectIdentifier(loops.loop(of: $0)) }
        #expect(Set(made).count == owners.count)
        #expect(owners.map { ObjectIdentifier(loops.loop(of: $0)) } == made)
    }

    @Test("beyond the bound owners share loops, each always the same one")
    func bound() {
        let loops = OwnerLoops(countMax: 2)
        let owners = (1...7).map { RemoteOwner.queue("\($0)") }
        let made = owners.map { ObjectIdentifier(loops.loop(of: $0)) }
        #expect(Set(made).count == 2)
        #expect(owners.map { ObjectIdentifier(loops.loop(of: $0)) } == made)
    }
}
