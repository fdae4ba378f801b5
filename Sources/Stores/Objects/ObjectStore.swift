import Engine
import Lifecycle

/// A bucket in which users' objects are found by prefixes and whole keys.
///
/// An interrupted purge finds what is left when it is asked again.
protocol ObjectStore: SweepingStore, UserListing, CoverageSearching
where Sweep == ObjectSweep<Bucket> {
    associatedtype Bucket: ObjectBucket

    var bucket: Bucket { get }
    var templates: [KeyTemplate] { get }
}

extension ObjectStore {
    func sweep(_ order: PurgeOrder) throws(CallFailure) -> ObjectSweep<Bucket> {
        let places = templates.compactMap { template in
            template.key(of: order.user)
                .map { ObjectSweep<Bucket>.Place(template: template, own: $0) }
        }
        guard places.count == templates.count, places.allSatisfy({ bucket.accepts($0.own) }) else {
            throw CallFailure(.unusable)
        }
        return ObjectSweep(bucket: bucket, places: places, walk: walk, cutoff: order.cutoff)
    }

    /// Goes through the users that the keys name.
    package func users(where isWanted: @escaping UserFilter) async -> UsersAnswer {
        var found: Set<UserID> = []
        do throws(CallFailure) {
            for template in templates {
                try await walk.pages { position throws(CallFailure) in
                    let page = try await bucket.names(
                        template.root,
                        delimiter: template.delimiter,
                        from: position
                    )
                    found.formUnion(page.names.compactMap(template.user).filter(isWanted))
                    return page.next
                }
            }
            return .found(Array(found))
        } catch {
            return .failure(error.failure)
        }
    }

    /// Looks for what no rule leads to: folders of the bucket, and what is beside users' data.
    package func coverage() async -> CoverageAnswer {
        do throws(CallFailure) {
            let unmapped = try await unmappedFolders()
            var folders = UserFolders(templates, list: level)
            try await folders.look()
            return .findings(folders.findings(beside: unmapped))
        } catch {
            return .failure(error.failure)
        }
    }

    private func level(at folder: String) async throws(CallFailure) -> UnmappedTree.Level {
        var level = UnmappedTree.Level()
        var pageCount = 0
        try await walk.pages { position throws(CallFailure) in
            let page = try await bucket.names(folder, delimiter: "/", from: position)
            level.names += page.names.map { UnmappedNames.relative($0, to: folder) }
                // An emulator of Cloud Storage also lists what is deeper.
                .filter { !$0.dropLast().contains("/") }
            pageCount += 1
            level.isWhole = page.next == nil
            return pageCount < UnmappedNames.pagesMax ? page.next : nil
        }
        return level
    }

    private func unmappedFolders() async throws(CallFailure) -> Set<String> {
        let roots = templates.map(\.root)
        var unmapped: Set<String> = []
        for parent in UnmappedNames.parents(of: roots) {
            var passed: Set<String> = []
            try await walk.pages { position throws(CallFailure) in
                let page = try await bucket.folders(in: parent, from: position)
                let names = page.names + (page.hasObjects ? [parent + "*"] : [])
                unmapped.formUnion(
                    names.filter { UnmappedNames.isUnmapped($0, in: parent, templates) }
                )
                if page.next != nil, let end = UnmappedNames.end(of: page.names.last, by: roots),
                    passed.insert(end).inserted
                {
                    return bucket.position(behind: end)
                }
                return unmapped.count <= UnmappedNames.namesMax ? page.next : nil
            }
        }
        return unmapped
    }
}
