import Lifecycle

/// A Realtime Database and where a user's data is in it.
struct RealtimeDatabaseTargetPlan: Sendable {
    let name: TargetName
    /// `https://HOST`.
    let baseURL: String
    /// Not empty.
    let paths: [UserPath]
    /// The child that says when the data of a path was made, in Unix milliseconds; `nil` for none.
    let createdAtChild: String?
    /// Which of its databases an emulator is asked for; `nil` where the host says it.
    var namespace: String?
    /// Keys of a listing, and of one write.
    var pageSize = 1000
}
