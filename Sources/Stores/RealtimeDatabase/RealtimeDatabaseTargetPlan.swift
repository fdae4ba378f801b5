package import Lifecycle

/// A Realtime Database and where a user's data is in it.
package struct RealtimeDatabaseTargetPlan: Sendable {
    package let name: TargetName
    /// `https://HOST`.
    package let baseURL: String
    /// Not empty.
    package let paths: [UserPath]
    /// The child that says when the data of a path was made, in Unix milliseconds; `nil` for none.
    package let createdAtChild: String?
    /// Which of its databases an emulator is asked for; `nil` where the host says it.
    package let namespace: String?
    /// Keys of a listing, and of one write.
    var pageSize = 1000

    package init(
        name: TargetName,
        baseURL: String,
        paths: [UserPath],
        createdAtChild: String?,
        namespace: String? = nil
    ) {
        self.name = name
        self.baseURL = baseURL
        self.paths = paths
        self.createdAtChild = createdAtChild
        self.namespace = namespace
    }

    /// Bytes of a page: 1,000 keys of up to 768 bytes, escaped at worst.
    package static let answerMax = 8 << 20
    /// What a token must be good for (firebase.google.com/docs/database/rest/auth).
    package static let scopes = [
        "https://www.googleapis.com/auth/firebase.database",
        "https://www.googleapis.com/auth/userinfo.email",
    ]
}
