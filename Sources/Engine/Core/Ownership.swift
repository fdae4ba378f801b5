package import Lifecycle

/// The partitions that a core works on.
///
/// ``all`` is that of a single host: no partition is ever gained or lost, and a question costs one
/// comparison.
package struct Ownership: Sendable {
    package static let all = Ownership(owned: .all, tenures: [])
    /// That of one host among several, before it has gained anything.
    package static let none = Ownership(
        owned: .none,
        tenures: Array(repeating: Tenure(epoch: 0, since: .latest), count: Partition.count)
    )

    private struct Tenure {
        let epoch: Int64
        /// What began before this number was read or decided under an earlier tenure.
        let since: ReadNumber
    }

    package private(set) var owned: PartitionSet
    /// Owned, but nothing new begins: another host is to have them.
    private(set) var leaving = PartitionSet.none
    private var tenures: [Tenure]
    private(set) var lastGain = ReadNumber(value: 0)

    private init(owned: PartitionSet, tenures: [Tenure]) {
        (self.owned, self.tenures) = (owned, tenures)
    }

    package var isAll: Bool { tenures.isEmpty }

    /// Where new work may begin.
    package var open: PartitionSet { owned.subtracting(leaving) }

    package func owns(_ partition: Partition) -> Bool { isAll || owned.contains(partition) }

    func isOpen(_ partition: Partition) -> Bool { isAll || open.contains(partition) }

    /// Whether what began at `read` is of the time since the partition was gained.
    func isCurrent(_ partition: Partition, _ read: ReadNumber) -> Bool {
        isAll || owned.contains(partition) && read >= tenures[Int(partition.number)].since
    }

    /// What a commit of these partitions is made under; `nil` for a single host.
    package func claims(of partitions: PartitionSet) -> [PartitionClaim]? {
        guard !isAll else { return nil }
        return partitions.intersection(owned).members.map {
            PartitionClaim($0, epoch: tenures[Int($0.number)].epoch)
        }
    }

    /// `nil` where another host is the steward.
    package var stewardship: Stewardship? {
        guard let claims = claims(of: PartitionSet([Stewardship.partition])) else {
            return Stewardship(claims: [])
        }
        return claims.isEmpty ? nil : Stewardship(claims: claims)
    }

    func holds(_ claim: PartitionClaim) -> Bool {
        owned.contains(claim.partition) && tenures[Int(claim.partition.number)].epoch == claim.epoch
    }

    mutating func gain(_ claim: PartitionClaim, at read: ReadNumber) {
        guard !isAll else { return }
        tenures[Int(claim.partition.number)] = Tenure(epoch: claim.epoch, since: read)
        owned.insert(claim.partition)
        leaving.remove(claim.partition)
        lastGain = read
    }

    mutating func leave(_ partitions: PartitionSet) {
        leaving = leaving.union(partitions.intersection(owned))
    }

    mutating func lose(_ partitions: PartitionSet) {
        owned = owned.subtracting(partitions)
        leaving = leaving.subtracting(partitions)
    }
}
