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
    /// Paths of documents of Firestore.
    package var documents: [String]?
    /// Text fields of documents, by path and name.
    package var fields: [String: [String: String]]?
    /// Paths of values of the Realtime Database, with slashes between the keys.
    package var values: [String]?
    /// The numbers that the values are, by path; 1 where none is said.
    package var numbers: [String: Int64]?
    /// Names of objects of Cloud Storage.
    package var objects: [String]?
}

extension CloudFamily {
    /// Everything that there is, sorted.
    var contents: CloudContents {
        state.withLock { state in
            CloudContents(
                accounts: state.accounts.values.sorted { $0.localID < $1.localID }.map { account in
                    let links = account.links.map { ($0.providerID, $0.rawID) }
                    return CloudContents.Account(
                        user: account.localID,
                        links: Dictionary(links) { first, _ in first }
                    )
                },
                documents: state.documents.all.keys.sorted(),
                fields: state.documents.all.mapValues(\.fields).filter { !$0.value.isEmpty },
                values: state.values.all.keys.sorted(),
                numbers: state.values.all,
                objects: state.objects.filter { $0.hardDeleteMilliseconds == nil }.map(\.name)
            )
        }
    }

    /// Adds to what there is; everything added is as old as the epoch.
    func add(_ contents: CloudContents) {
        state.withLock { state in
            for account in contents.accounts ?? [] {
                let links = account.links.sorted { $0.key < $1.key }
                state.accounts[account.user] = CloudAccount(
                    account.user,
                    links: links.map { CloudAccount.Link($0.key, rawID: $0.value) }
                )
            }
            for path in contents.documents ?? [] {
                state.documents[path] = CloudDocument(path, fields: contents.fields?[path] ?? [:])
            }
            for path in contents.values ?? [] {
                state.values[path] = contents.numbers?[path] ?? 1
            }
        }
        for name in contents.objects ?? [] { add(CloudObject(name)) }
    }
}
