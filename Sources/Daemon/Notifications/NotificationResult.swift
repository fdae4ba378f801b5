import Lifecycle
import Providers

/// What a notification did, and what its provider is answered.
struct NotificationResult: Sendable {
    let answer: NotificationAnswer
    let effect: NotificationEffect
    let requestID: RequestID?
}
