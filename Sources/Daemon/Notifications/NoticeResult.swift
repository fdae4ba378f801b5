import Lifecycle
import Providers

/// What a notification did, and what its provider is answered.
struct NoticeResult: Sendable {
    let answer: NotificationAnswer
    let effect: NoticeEffect
    let requestID: RequestID?
}
