/// Who handed a notification on.
struct NoticeSource: Sendable {
    let uid: UInt32
    let role: String
}
