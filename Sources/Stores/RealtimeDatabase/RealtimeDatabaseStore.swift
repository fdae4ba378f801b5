package import Engine
package import Lifecycle
import Synchronization

/// A Realtime Database of Firebase.
///
/// It knows no time of creation but one that the application writes; without that there is no
/// cutoff. An interrupted purge finds what is left when it is asked again.
package struct RealtimeDatabaseStore: SweepingStore, GoogleStore, UserListing,
    CoverageSearching
{
    /// firebase.google.com/docs/database/rest/auth.
    static let scopes = [
        "https://www.googleapis.com/auth/firebase.database",
        "https://www.googleapis.com/auth/userinfo.email",
    ]

    package let name: StoreName
    /// Not empty.
    let paths: [UserPath]
    /// The child that says when the data of a path was made, in Unix milliseconds; `nil` for none.
    let createdAtChild: String?
    let session: GoogleSession
    let tree: RealtimeTree

    func sweep(_ order: PurgeOrder) throws(CallFailure) -> RealtimeSweep {
        RealtimeSweep(
            places: try UserPath.owned(paths, by: order.user)
                .map { RealtimeSweep.Place(path: $0.path, names: $0.names) },
            store: self,
            order: order
        )
    }

    /// Tries what a purge does at a place that nobody has.
    package func inspect(withOutages: Bool) async -> StoreFindings {
        let nobody = UserID.nobody()
        do throws(CallFailure) {
            for path in paths {
                guard let names = path.names(of: nobody) else { continue }
                _ = try await tree.keys(at: names)
                _ = try await tree.firstChild(at: names)
                _ = try await tree.delete(names)
            }
            return StoreFindings(problems: [])
        } catch {
            return StoreFindings(
                problems: error.findings(at: "the database", withOutages: withOutages)
            )
        }
    }

    /// Reads the keys that are named after users, all of one place in one answer, as it comes.
    package func users(where isWanted: @escaping UserFilter) async -> UsersAnswer {
        let found = Mutex(Set<UserID>())
        do throws(CallFailure) {
            for path in paths {
                let isListed = try await tree.forEachKey(at: path.root) { key in
                    guard let user = path.user(in: key), isWanted(user) else { return }
                    found.withLock { _ = $0.insert(user) }
                }
                guard isListed else {
                    return .unknown("'\(path)' has more keys than the database lists at once")
                }
            }
            return .found(Array(found.withLock { $0 }))
        } catch {
            return .failure(error.failure)
        }
    }

    /// Looks for keys that no rule leads to, at the root and along the paths.
    package func coverage() async -> CoverageAnswer {
        var unmapped = UnmappedTree(list: { place throws(CallFailure) in
            switch try await tree.firstKeys(at: place) {
            case .nothing, .value: UnmappedTree.Level()
            case .keys(let keys):
                UnmappedTree.Level(names: keys, isWhole: keys.count < tree.pageSize)
            case .large: UnmappedTree.Level(isWhole: false)
            }
        })
        do throws(CallFailure) {
            try await unmapped.look(paths.map { UnmappedTree.Rule($0) })
        } catch {
            return .failure(error.failure)
        }
        return .findings(unmapped.findings(paths.map(\.description)))
    }
}
