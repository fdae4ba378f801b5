import Lifecycle
import Testing

/// What a host does about its leases.
struct HostLeasesTests {
    private typealias Machine = LeaseMachine

    @Test func `the first renewal shows what is free, and the host takes its share`() {
        var machine = LeaseMachine()
        #expect(machine.send(.due) == [.renew([])])
        let view = Machine.view(free: .all, hosts: 2, rank: 1)
        let half = Machine.partitions(32..<64)
        #expect(machine.send(.renewed(view)) == [.acquire(half)])
        let claims = Machine.claims(32..<64)
        #expect(machine.send(.acquired(claims)) == [.gained(claims)])
        #expect(machine.leases.owned == half)
    }

    @Test func `the shares of all hosts add up to all partitions`() {
        for hosts in 1...70 {
            let shares = (0..<hosts).map { Machine.view(hosts: hosts, rank: $0).share }
            #expect(shares.reduce(0, +) == Partition.count)
            #expect((shares.max() ?? 0) - (shares.min() ?? 0) <= 1)
        }
    }

    @Test func `a lease is renewed every two seconds, and lasts from before that call was sent`() {
        var machine = Machine.owning()
        let first = Partition(number: 0)
        #expect(machine.leases.wakeTime ?? .zero <= .seconds(2))
        #expect(machine.send(.due, after: .seconds(2)) == [.renew(Machine.claims(0..<4))])
        // The answer takes a second; the lease is not a second longer.
        machine.send(.renewed(Machine.view(Machine.claims(0..<4))), after: .seconds(1))
        #expect(machine.leases.mayBegin(first, at: .milliseconds(6800)))
        #expect(!machine.leases.mayBegin(first, at: .milliseconds(6900)))
    }

    @Test func `a host that stood still loses everything before it does anything else`() {
        var machine = Machine.owning()
        let effects = machine.send(.signaled, after: .seconds(60))
        #expect(effects.first == .lost(Machine.partitions(0..<4)))
        #expect(machine.leases.owned.isEmpty)
    }

    @Test func `what is signaled during a renewal is looked at right after it`() throws {
        var machine = Machine.owning()
        machine.send(.due, after: .seconds(2))
        machine.send(.signaled, after: .milliseconds(1))
        machine.send(.renewed(Machine.view(Machine.claims(0..<4))), after: .milliseconds(1))
        let again = machine.send(.due, after: Limits.leaseMargin)
        #expect(again == [.renew(Machine.claims(0..<4))])
    }

    @Test func `an answer to a renewal that comes too late brings nothing back`() {
        var machine = Machine.owning()
        machine.send(.due, after: .seconds(2))
        let effects = machine.send(
            .renewed(Machine.view(Machine.claims(0..<4))),
            after: .seconds(4)
        )
        // The next renewal is due by then; it has nothing to renew.
        #expect(effects == [.lost(Machine.partitions(0..<4)), .renew([])])
        #expect(machine.leases.owned.isEmpty)
    }

    @Test func `partitions that come too late are not begun with`() {
        var machine = LeaseMachine()
        machine.send(.due)
        machine.send(.renewed(Machine.view(free: .all)))
        #expect(
            !machine.send(.acquired(Machine.claims(0..<64)), after: .seconds(5)).names
                .contains("gained")
        )
        #expect(machine.leases.owned.isEmpty)
    }

    @Test func `a lease that the state did not renew is lost`() {
        var machine = Machine.owning()
        machine.send(.due, after: .seconds(2))
        let effects = machine.send(.renewed(Machine.view(Machine.claims(0..<3))))
        #expect(effects == [.lost(Machine.partitions(3..<4))])
    }

    @Test func `calls that fail are made again soon, and the leases last`() {
        var machine = Machine.owning()
        machine.send(.due, after: .seconds(2))
        #expect(machine.send(.failed).isEmpty)
        let wake = machine.leases.wakeTime ?? .zero
        #expect(wake >= .milliseconds(2250) && wake <= .milliseconds(2500))
        #expect(machine.leases.owned.count == 4)
        #expect(machine.send(.due, after: .milliseconds(500)) == [.renew(Machine.claims(0..<4))])
    }

    @Test func `the lease of a host that is gone is taken when it ends`() {
        var machine = LeaseMachine()
        machine.send(.due)
        var view = Machine.view(hosts: 2)
        view.nextExpiry = .milliseconds(700)
        machine.send(.renewed(view))
        let wake = machine.leases.wakeTime ?? .zero
        #expect(wake >= .milliseconds(700) && wake <= .milliseconds(800))
    }

    @Test func `what is too much is left, renewed meanwhile, and given back when it is clear`() {
        var machine = Machine.owning()
        machine.send(.due, after: .seconds(2))
        let view = Machine.view(Machine.claims(0..<4), hosts: 32)
        #expect(machine.send(.renewed(view)) == [.leave(Machine.partitions(2..<4))])
        #expect(machine.send(.due, after: .seconds(2)) == [.renew(Machine.claims(0..<4))])
        machine.send(.renewed(view))
        #expect(
            machine.send(.left(Machine.claims(2..<3))) == [.release(Machine.claims(2..<3))]
        )
        // One call at a time.
        #expect(machine.send(.left(Machine.claims(3..<4))).isEmpty)
        #expect(machine.send(.released) == [.release(Machine.claims(3..<4))])
        #expect(machine.leases.owned == Machine.partitions(0..<2))
    }

    @Test func `calls that do not end keep a partition for ten seconds`() {
        var machine = Machine.owning()
        #expect(machine.send(.stop) == [.leave(Machine.partitions(0..<4))])
        for _ in 0..<5 {
            guard machine.send(.due, after: .milliseconds(1900)).names == "renew" else { continue }
            machine.send(.renewed(Machine.view(Machine.claims(0..<4))))
        }
        let effects = machine.send(.due, after: .seconds(1))
        #expect(effects.first == .lost(Machine.partitions(0..<4)))
        #expect(effects.last == .release(Machine.claims(0..<4)))
    }

    @Test func `a stop ends when everything is given back, and takes nothing more`() {
        var machine = Machine.owning()
        machine.send(.stop)
        #expect(
            machine.send(.left(Machine.claims(0..<4))) == [.release(Machine.claims(0..<4))]
        )
        #expect(machine.send(.released) == [.stopped])
        #expect(machine.send(.due, after: .seconds(9)).isEmpty)
        #expect(machine.leases.wakeTime == nil)
    }

    @Test func `partitions that arrive during a stop are left at once`() {
        var machine = LeaseMachine()
        machine.send(.due)
        machine.send(.renewed(Machine.view(free: .all)))
        machine.send(.stop)
        let claims = Machine.claims(0..<64)
        #expect(machine.send(.acquired(claims)) == [.gained(claims), .leave(.all)])
    }

    @Test func `a refused commit loses what it claimed, unless another epoch has begun`() {
        var machine = Machine.owning()
        #expect(machine.send(.refused(Machine.claims(0..<1, epoch: 0))).first != .lost(.none))
        #expect(machine.leases.owned.count == 4)
        var other = Machine.owning()
        let effects = other.send(.refused(Machine.claims(0..<1)))
        #expect(effects.first == .lost(Machine.partitions(0..<1)))
        #expect(effects.last == .renew(Machine.claims(1..<4)))
    }

    @Test func `users are spread over the partitions by their hash`() {
        #expect(Partition(userHash: [0x40, 1]).number == 0)
        #expect(Partition(userHash: [0xFF]).number == 63)
        #expect(PartitionSet.all.count == Partition.count)
        #expect(PartitionSet.all.members == Partition.all)
        let some = Machine.partitions([1, 63])
        #expect(some.members.map(\.number) == [1, 63])
        #expect(some.union(.none) == some)
        #expect(PartitionSet.all.subtracting(some).count == 62)
    }
}
