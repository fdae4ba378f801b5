import Synchronization

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
