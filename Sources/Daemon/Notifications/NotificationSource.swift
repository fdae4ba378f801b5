/// Who handed a notification on.
struct NotificationSource: Sendable {
    let uid: UInt32
    let role: String
}
