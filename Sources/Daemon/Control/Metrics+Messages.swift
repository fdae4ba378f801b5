import Lifecycle
import Storage

/// The queues of messages, and attempts since the start.
extension Metrics {
    var messageFamilies: [String] {
        func samples(_ value: (SubscriberQueue) -> Int) -> [Sample] {
            messages.map { ([("subscriber", $0.name.rawValue)], Int64(value($0))) }
        }
        return gauge("messages_waiting", "Messages that wait for an attempt.") {
            samples(\.waiting)
        }
            + counter("messages_dropped_total", "Messages that found the queue full.") {
                samples(\.dropped)
            }
            + counter("message_attempts_total", "Attempts since the start, by how they ended.") {
                attempts
            }
    }

    private var attempts: [Sample] {
        let attempts = parts.messages.counter.counts
        return messages.flatMap { queue in
            let ends = MessageFailure.allCases.map(\.rawValue)
            return ([MessageService.Attempts.delivered] + ends).map { outcome -> Sample in
                let key = MessageService.Attempts(subscriber: queue.name, outcome: outcome)
                let labels = [("subscriber", queue.name.rawValue), ("outcome", outcome)]
                return (labels, Int64(attempts[key] ?? 0))
            }
        }
    }
}
