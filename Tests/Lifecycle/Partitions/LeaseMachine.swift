import Lifecycle

/// Drives the leases of one host with a clock of its own.
struct LeaseMachine {
    var leases = HostLeases(seed: 7)
    var uptime = Duration.zero
    private(set) var epoch: Int64 = 0

    /// What the state would report: so many partitions are free for one of so many hosts.
    static func view(
        _ renewed: [PartitionClaim] = [],
        free: PartitionSet = .none,
        hosts: Int = 1,
        rank: Int = 0
    ) -> LeaseView {
        var view = LeaseView()
        (view.renewed, view.free) = (renewed, free)
        (view.hostCount, view.rank) = (hosts, rank)
        return view
    }

    static func claims(_ numbers: some Sequence<UInt8>, epoch: Int64 = 1) -> [PartitionClaim] {
        numbers.map { PartitionClaim(Partition(number: $0), epoch: epoch) }
    }

    static func partitions(_ numbers: some Sequence<UInt8>) -> PartitionSet {
        PartitionSet(numbers.map(Partition.init(number:)))
    }

    @discardableResult
    mutating func send(_ event: LeaseEvent, after wait: Duration = .zero) -> [LeaseEffect] {
        uptime += wait
        return leases.handle(event, at: uptime)
    }

    /// One that owns the first partitions and has nothing under way.
    static func owning(_ count: UInt8 = 4) -> LeaseMachine {
        var machine = LeaseMachine()
        machine.send(.due)
        machine.send(.renewed(view(free: partitions(0..<count))))
        machine.send(.acquired(claims(0..<count)))
        return machine
    }

    var phase: String {
        switch leases.phase {
        case .idle: "idle"
        case .renewing: "renewing"
        case .acquiring: "acquiring"
        case .releasing: "releasing"
        case .stopped: "stopped"
        }
    }
}

extension [LeaseEffect] {
    /// As the table has them.
    var names: String {
        map { effect in
            switch effect {
            case .renew: "renew"
            case .acquire: "acquire"
            case .release: "release"
            case .gained: "gained"
            case .lost: "lost"
            case .leave: "leave"
            case .stopped: "stopped"
            }
        }.joined(separator: ", ")
    }
}
