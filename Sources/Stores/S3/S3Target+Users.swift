package import Engine
package import Lifecycle

extension S3Target {
    /// Goes through the users that the keys tell, a page at a time.
    package func users(
        where isWanted: @escaping @Sendable (UserID) -> Bool
    ) async -> UsersAnswer {
        var found: Set<UserID> = []
        do throws(S3Error) {
            for template in templates {
                try await listing.pages { place throws(S3Error) in
                    let page = try await bucket.names(
                        template.root,
                        delimiter: template.delimiter,
                        from: place
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
}
