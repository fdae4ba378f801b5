import Engine
import Lifecycle

/// A user who was erased, or an id of one, and has data in a store again.
struct ReplayFinding: Sendable {
    let order: ReplayOrder
    let target: TargetName
    let rowCount: Int
    /// Under what the id is kept; `nil` where it is the user's own.
    let key: KeyName?
}
