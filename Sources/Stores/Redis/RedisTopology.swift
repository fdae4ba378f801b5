import Settings

/// Which master of a cluster has which slots, as `CLUSTER NODES` says
/// (redis.io/docs/latest/commands/cluster-nodes).
struct RedisTopology: Hashable, Sendable {
    /// Where a node listens.
    struct Place: Hashable, Sendable {
        let host: String
        let port: Int

        var isLoopback: Bool {
            EndpointURL("https://\(host.contains(":") ? "[\(host)]" : host)")?.isLoopback == true
        }
    }

    struct Share: Hashable, Sendable {
        let slots: ClosedRange<Int>
        let place: Place
    }

    /// By their slots.
    let shares: [Share]
    /// The node that was asked is giving slots away or taking some.
    let isMoving: Bool

    /// Reads an answer, a line per node; `nil` where it does not give every slot to one master.
    ///
    /// The host that was asked may not know its own name.
    init?(_ text: String, from host: String) {
        var shares: [Share] = []
        var isMoving = false
        for line in text.split(separator: "\n") {
            let words = line.split(separator: " ")
            guard words.count >= 8 else { return nil }
            let flags = words[2].split(separator: ",")
            if flags.contains("myself"), words.dropFirst(8).contains(where: { $0.first == "[" }) {
                isMoving = true
            }
            guard flags.contains("master"), !flags.contains("noaddr"), !flags.contains("fail")
            else { continue }
            guard let place = Self.place(words[1], host) else { return nil }
            for word in words.dropFirst(8) where word.first != "[" {
                guard let slots = Self.slots(word) else { return nil }
                shares.append(Share(slots: slots, place: place))
            }
        }
        shares.sort { $0.slots.lowerBound < $1.slots.lowerBound }
        var next = 0
        for share in shares {
            guard share.slots.lowerBound == next else { return nil }
            next = share.slots.upperBound + 1
        }
        guard next == RedisSlot.count else { return nil }
        (self.shares, self.isMoving) = (shares, isMoving)
    }

    /// The masters, each once.
    var places: [Place] {
        var seen: Set<Place> = []
        return shares.map(\.place).filter { seen.insert($0).inserted }
    }

    /// The master of a slot.
    func place(of slot: Int) -> Place? { shares.first { $0.slots.contains(slot) }?.place }

    /// `IP:PORT@BUSPORT[,HOSTNAME[,…]]`; a name is what a certificate is for.
    private static func place(_ word: Substring, _ host: String) -> Place? {
        let parts = word.split(separator: ",", omittingEmptySubsequences: false)
        let address = parts[0].prefix { $0 != "@" }
        guard let colon = address.lastIndex(of: ":"),
            let port = Int(address[address.index(after: colon)...]), (1...65_535).contains(port)
        else { return nil }
        let name = parts.count > 1 && !parts[1].contains("=") ? parts[1] : ""
        let ip = address[..<colon]
        let known = name.isEmpty ? ip : name
        return Place(host: known.isEmpty ? host : String(known), port: port)
    }

    private static func slots(_ word: Substring) -> ClosedRange<Int>? {
        let ends = word.split(separator: "-", omittingEmptySubsequences: false).map { Int($0) }
        guard let first = ends[0], let last = ends[ends.count - 1], ends.count <= 2,
            (0...last).contains(first), last < RedisSlot.count
        else { return nil }
        return first...last
    }
}
