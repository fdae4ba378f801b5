import Engine
import Settings
import Stores
import Testing

@testable import Daemon

@Suite("The traits of a kind of store") struct StoreTraitsTests {
    @Test func `agree with what its targets and copies can be asked for`() {
        for kind in Kinds.stores { check(kind) }
    }

    private func check<Kind: StoreKind>(_ kind: Kind.Type) {
        #expect(
            Kind.traits.listsUsers == (Kind.Target.self is any UserListing.Type),
            "\(kind.name)"
        )
        #expect(Kind.traits.supportsDrills == (kind is any DrillCopying.Type), "\(kind.name)")
    }
}
