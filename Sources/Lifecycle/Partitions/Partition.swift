/// One of ``count`` parts of all users; a part has one writer at a time.
package struct Partition: Hashable, Sendable, Comparable {
    package static let count = 64
    package static let all = (0..<UInt8(count)).map(Partition.init(number:))

    /// From 0 to 63.
    package let number: UInt8

    package init(number: UInt8) { self.number = number & UInt8(Self.count - 1) }

    /// The partition of a user, by the keyed hash of the user id.
    package init(userHash: [UInt8]) { self.init(number: userHash.first ?? 0) }

    package static func < (left: Partition, right: Partition) -> Bool {
        left.number < right.number
    }
}

extension Partition: CustomStringConvertible {
    package var description: String { "\(number)" }
}

/// Partitions, in one word.
package struct PartitionSet: Hashable, Sendable {
    private var bits: UInt64

    private init(bits: UInt64) { self.bits = bits }

    package static let none = PartitionSet(bits: 0)
    package static let all = PartitionSet(bits: .max)

    package init(_ partitions: some Sequence<Partition>) {
        bits = partitions.reduce(0) { $0 | Self.bit($1) }
    }

    private static func bit(_ partition: Partition) -> UInt64 { 1 << UInt64(partition.number) }

    package var isEmpty: Bool { bits == 0 }
    package var count: Int { bits.nonzeroBitCount }

    package func contains(_ partition: Partition) -> Bool { bits & Self.bit(partition) != 0 }

    package mutating func insert(_ partition: Partition) { bits |= Self.bit(partition) }

    package mutating func remove(_ partition: Partition) { bits &= ~Self.bit(partition) }

    package func union(_ other: PartitionSet) -> PartitionSet {
        PartitionSet(bits: bits | other.bits)
    }

    package func intersection(_ other: PartitionSet) -> PartitionSet {
        PartitionSet(bits: bits & other.bits)
    }

    package func subtracting(_ other: PartitionSet) -> PartitionSet {
        PartitionSet(bits: bits & ~other.bits)
    }

    /// In ascending order.
    package var members: [Partition] { Partition.all.filter(contains) }
}

extension PartitionSet: CustomStringConvertible {
    package var description: String { "\(members)" }
}

/// What a host writes a partition under: the state refuses it once another epoch has begun.
package struct PartitionClaim: Hashable, Sendable {
    package let partition: Partition
    package let epoch: Int64

    package init(_ partition: Partition, epoch: Int64) {
        (self.partition, self.epoch) = (partition, epoch)
    }
}
