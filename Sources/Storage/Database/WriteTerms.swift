package import Lifecycle

/// What must hold for every write of a task that names no leases of its own.
///
/// Work that one host does for all runs under its claim, so that a host that stood still meanwhile
/// writes nothing: each write then throws ``StorageError`` of kind `lostPartition`.
package enum WriteTerms {
    @TaskLocal package static var claims: [PartitionClaim] = []
}
