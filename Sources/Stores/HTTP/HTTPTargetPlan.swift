import HTTP
import Lifecycle

/// An HTTP API and what is asked of it.
struct HTTPTargetPlan: Sendable {
    let name: TargetName
    let erase: [HTTPStep]
    let verify: [HTTPStep]
    /// What lists all users; empty where nothing does.
    let users: [HTTPStep]
    let constants: [String: String]
    /// An id that no user has; `nil` for a random one.
    let checkID: String?
    let callsPerMinute: Int?
    var remote: RemoteSettings

    /// The longest time within which a server only promises to have erased.
    var promised: Duration? { erase.compactMap(\.promised).max() }
}
