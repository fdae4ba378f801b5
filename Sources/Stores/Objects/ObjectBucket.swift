import Lifecycle

protocol ObjectBucket: Sendable {
    /// How a listing goes on.
    associatedtype Position: Sendable
    /// What a listing shows of a prefix.
    associatedtype Listing: Sendable

    /// What a purge removes; the first one is that of objects.
    var removals: [Listing] { get }
    /// Other listings that show the same.
    var recounts: [Listing] { get }

    /// A row of the receipt.
    func name(of listing: Listing, _ template: KeyTemplate) -> String

    /// Whether an object can have a key.
    func accepts(_ key: String) -> Bool

    /// A page, in the order of the keys.
    func page(
        _ listing: Listing,
        of prefix: String,
        from position: Position?
    ) async throws(CallFailure) -> ObjectPage<Position>

    /// Where a listing goes on behind an entry that stays; `nil` where only pages tell.
    func position(behind version: ObjectVersion, _ listing: Listing) -> Position?

    /// A page of the names of all versions below a prefix; what has the delimiter behind that is
    /// shown up to it, once.
    func names(
        _ prefix: String,
        delimiter: String?,
        from position: Position?
    ) async throws(CallFailure) -> NamePage<Position>

    func folders(
        in parent: String,
        from position: Position?
    ) async throws(CallFailure) -> NamePage<Position>

    /// Where ``folders(in:from:)`` goes on behind a name.
    func position(behind name: String) -> Position

    /// Deletes entries of a page for good.
    ///
    /// - Returns: What protects those that stay.
    func delete(
        _ versions: [ObjectVersion],
        _ listing: Listing
    ) async throws(CallFailure) -> [ObjectVersion: PurgeCounts.ResidualCopies]

    /// What protects an entry of a listing.
    func lock(
        of version: ObjectVersion,
        _ listing: Listing
    ) async throws(CallFailure) -> PurgeCounts.ResidualCopies?
}

/// A version of an object, a delete marker, or an unfinished upload.
struct ObjectVersion: Hashable, Sendable {
    let key: String
    /// Empty in a listing that shows objects and not their versions.
    let id: String
    let date: WallTime
    /// What protects it, as the listing shows it.
    var lock: PurgeCounts.ResidualCopies?
}

/// Some entries of a listing, and how it goes on; `nil` when it does not.
struct ObjectPage<Position: Sendable>: Sendable {
    var versions: [ObjectVersion] = []
    var next: Position?
}

/// Some names, and how their listing goes on; `nil` when it does not.
struct NamePage<Position: Sendable>: Sendable {
    var names: [String] = []
    /// Whether objects lie beside the folders.
    var hasObjects = false
    var next: Position?
}
