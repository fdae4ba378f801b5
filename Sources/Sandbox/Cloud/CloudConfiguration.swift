import Synchronization

/// How the sandbox plays Firebase and Google Cloud.
package struct CloudConfiguration: Sendable {
    package var project = "example-project"
    package var clientEmail = "expunged@example-project.iam.gserviceaccount.com"
    package var knowsAccountQuery = true
    package var database = "(default)"
    /// Accounts, documents or names of a page at most, whatever is asked for.
    package var pageMax = 300
    /// Collections with an index for queries of any collection of that name; `nil` for all.
    package var indexedGroups: Set<String>?
    package var versionRetentionSeconds: Int64 = 3600
    package var bucket = "example-bucket"
    /// How long the bucket keeps deleted objects; zero for not at all.
    package var softDeletionSeconds: Int64 = 0
    package var mayReadBucket = true
    /// The Realtime Database that is meant where no `ns` says which.
    package var instance = "example-project-default-rtdb"
    /// Values of the Realtime Database that one read or one tiny write may touch.
    package var treeMax = 100
    package var mayUseDatabase = true

    package init() {}
}

/// An account of Firebase Authentication.
package struct CloudAccount: Equatable, Sendable {
    /// One entry of `providerUserInfo`.
    package struct Link: Equatable, Sendable {
        package var providerID: String
        package var rawID: String

        package init(_ providerID: String, rawID: String) {
            (self.providerID, self.rawID) = (providerID, rawID)
        }
    }

    package var localID: String
    package var links: [Link]
    package var createdAtMilliseconds: Int64
    /// Sessions that began before are over.
    package var validSinceSeconds: Int64 = 0

    package init(_ localID: String, links: [Link] = [], createdAtMilliseconds: Int64 = 0) {
        (self.localID, self.links) = (localID, links)
        self.createdAtMilliseconds = createdAtMilliseconds
    }
}

/// One document of Firestore.
package struct CloudDocument: Equatable, Sendable {
    /// Collection and document in turn, with slashes between.
    package var path: String
    package var fields: [String: String]
    package var createdAtMilliseconds: Int64
    /// Part of the time of the last write.
    package var writeCount: Int64 = 0

    package init(_ path: String, fields: [String: String] = [:], createdAtMilliseconds: Int64 = 0) {
        (self.path, self.fields, self.createdAtMilliseconds) = (path, fields, createdAtMilliseconds)
    }
}

/// One generation of an object of Cloud Storage.
package struct CloudObject: Equatable, Sendable {
    package var name: String
    package var generation: Int64
    package var createdAtMilliseconds: Int64
    /// Whether it is the one that a reader gets.
    package var isLive = true
    package var isHeld = false
    package var retainedUntilMilliseconds: Int64?
    package var hardDeleteMilliseconds: Int64?

    package init(_ name: String, generation: Int64 = 1, createdAtMilliseconds: Int64 = 0) {
        (self.name, self.generation) = (name, generation)
        self.createdAtMilliseconds = createdAtMilliseconds
    }
}

/// What Firebase and Google Cloud hold for the users of a test, as the admin routes write it.
package struct CloudContents: Codable, Equatable, Sendable {
    /// One account of Firebase Authentication and where it is linked.
    package struct Account: Codable, Equatable, Sendable {
        package var user: String
        /// `providerId` of each link, such as `google.com` or `password`, with its `rawId`.
        package var links: [String: String]
    }

    package var accounts: [Account]?
    package var tenants: [String: [Account]]?
    package var documents: [String]?
    /// Text fields of documents, by path and name.
    package var fields: [String: [String: String]]?
    /// Paths of values of the Realtime Database, with slashes between the keys.
    package var values: [String]?
    /// The numbers that the values are, by path; 1 where none is said.
    package var numbers: [String: Int64]?
    /// The same for other databases than the first, by their names.
    package var databases: [String: [String: Int64]]?
    package var objects: [String]?

    package init(
        accounts: [Account]? = nil,
        tenants: [String: [Account]]? = nil,
        databases: [String: [String: Int64]]? = nil
    ) {
        (self.accounts, self.tenants, self.databases) = (accounts, tenants, databases)
    }
}

extension CloudFamily {
    var contents: CloudContents {
        state.withLock { state in
            var contents = CloudContents(
                accounts: Self.listed(state.accounts["", default: [:]]),
                tenants: state.accounts.filter { !$0.key.isEmpty }.mapValues(Self.listed),
                databases: state.values.filter { $0.key != configuration.instance }
                    .mapValues(\.all)
            )
            contents.documents = state.documents.paths.sorted()
            contents.fields = state.documents.all.mapValues(\.fields).filter { !$0.value.isEmpty }
            contents.values = state.values[configuration.instance]?.paths.sorted()
            contents.numbers = state.values[configuration.instance]?.all
            contents.objects = state.objects.filter { $0.hardDeleteMilliseconds == nil }.map(\.name)
            return contents
        }
    }

    /// Adds to what there is; everything added is as old as the epoch.
    func add(_ contents: CloudContents) {
        state.withLock { state in
            let all = [("", contents.accounts ?? [])] + (contents.tenants ?? [:]).map { ($0, $1) }
            for (tenant, accounts) in all {
                let added = accounts.map { (ExactText($0.user), Self.account($0)) }
                state.accounts[tenant, default: [:]].merge(added) { $1 }
            }
            for path in contents.documents ?? [] {
                state.documents[path] = CloudDocument(path, fields: contents.fields?[path] ?? [:])
            }
            for path in contents.values ?? [] {
                state.values[configuration.instance]?[path] = contents.numbers?[path] ?? 1
            }
            for (name, numbers) in contents.databases ?? [:] {
                for (path, number) in numbers {
                    state.values[name, default: PathTable()][path] = number
                }
            }
        }
        for name in contents.objects ?? [] { add(CloudObject(name)) }
    }

    private static func account(_ account: CloudContents.Account) -> CloudAccount {
        let links = account.links.sorted { $0.key < $1.key }
        return CloudAccount(
            account.user,
            links: links.map { CloudAccount.Link($0.key, rawID: $0.value) }
        )
    }

    private static func listed(_ accounts: [ExactText: CloudAccount]) -> [CloudContents.Account] {
        accounts.values.sorted { $0.localID < $1.localID }.map { account in
            let links = account.links.map { ($0.providerID, $0.rawID) }
            return CloudContents.Account(
                user: account.localID,
                links: Dictionary(links) { first, _ in first }
            )
        }
    }
}
