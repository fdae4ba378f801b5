/// The host of a Realtime Database: its name, which no other database of anybody's has, and the
/// domain (firebase.google.com/docs/reference/rest/database/database-management).
extension RealtimeDatabaseTargetConfiguration {
    /// What the database is called; in lower case, as hosts have none.
    package var instance: String { labels.first ?? "" }

    /// `firebaseio.com` or `REGION.firebasedatabase.app`; `nil` for a host that is not Google's.
    var domain: String? {
        let parents = labels.dropFirst()
        guard EndpointURL(url)?.isEncrypted == true, EndpointURL(url)?.port == nil,
            parents == ["firebaseio", "com"]
                || parents.count == 3 && parents.suffix(2) == ["firebasedatabase", "app"]
        else { return nil }
        return parents.joined(separator: ".")
    }

    private var labels: [String] {
        (EndpointURL(url)?.host ?? "").lowercased().split(separator: ".").map(String.init)
    }
}
