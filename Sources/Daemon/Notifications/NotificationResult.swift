import Lifecycle
import Providers

struct NotificationResult: Sendable {
    let answer: NotificationAnswer
    let effect: NotificationEffect
    let requestID: RequestID?
}
