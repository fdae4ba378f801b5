package import Lifecycle

/// One tenure of the steward: the host that does what is done once for all hosts.
///
/// It sends messages, runs rechecks, samples and replays, polls providers, and wraps keys anew.
/// Each of its commits is made under the claim, so a host that stood still records nothing.
package struct Stewardship: Hashable, Sendable {
    /// Its owner is the steward.
    package static let partition = Partition(number: 0)

    /// Empty for a single host.
    package let claims: [PartitionClaim]

    package init(claims: [PartitionClaim]) { self.claims = claims }
}
