import Lifecycle
import Storage

extension Metrics {
    var measurementFamilies: [String] {
        erasures + calls + verdicts + purges + rows
    }

    private var erasures: [String] {
        Self.histogram(
            "erasure_duration_seconds",
            "Time from the acceptance of a deletion to its completion.",
            [([], measurements.erasures)]
        )
    }

    private var calls: [String] {
        // A rate needs a first value of zero.
        var calls = measurements.calls
        for provider in providers.keys {
            let call = Measurements.Call(provider: provider, outcome: Measurements.Call.success)
            calls[call] = calls[call] ?? .ofCalls
        }
        let sorted = calls.sorted {
            ($0.key.provider, $0.key.outcome) < ($1.key.provider, $1.key.outcome)
        }
        return Self.histogram(
            "provider_call_duration_seconds",
            "Duration of calls to a provider, by how they ended.",
            sorted.map { call, histogram in
                ([("provider", call.provider.rawValue), ("outcome", call.outcome)], histogram)
            }
        )
    }

    private var verdicts: [String] {
        counter("verdicts_total", "Verdicts on identities.") {
            providers.keys.sorted().flatMap { provider in
                Verdict.allCases.map { verdict -> Sample in
                    let key = Measurements.Decision(provider: provider, verdict: verdict)
                    let labels = [("provider", provider.rawValue), ("verdict", verdict.rawValue)]
                    return (labels, Int64(measurements.decisions[key] ?? 0))
                }
            }
        }
    }

    private var purges: [String] {
        Self.histogram(
            "purge_duration_seconds",
            "Duration of purge calls to a target, of many requests each.",
            targets.keys.sorted().map { target in
                ([("target", target.rawValue)], measurements.purges[target] ?? .ofPurges)
            }
        )
    }

    private var rows: [String] {
        counter("purged_rows_total", "Rows, objects and keys that requests purged.") {
            targets.keys.sorted().flatMap { target -> [Sample] in
                let rows = measurements.rows[target] ?? Measurements.Rows()
                return [("erased", rows.erased), ("anonymized", rows.anonymized)].map {
                    ([("target", target.rawValue), ("action", $0)], Int64($1))
                }
            }
        }
    }

    private static func histogram(
        _ name: String,
        _ help: String,
        _ samples: [(labels: [(String, String)], histogram: Histogram)]
    ) -> [String] {
        head(name, "histogram", help)
            + samples.flatMap { labels, histogram in
                zip(histogram.bounds, histogram.cumulative).map { bound, count in
                    line("\(name)_bucket", labels + [("le", text(bound))], "\(count)")
                } + [
                    line("\(name)_bucket", labels + [("le", "+Inf")], "\(histogram.count)"),
                    line("\(name)_sum", labels, text(histogram.sum)),
                    line("\(name)_count", labels, "\(histogram.count)"),
                ]
            }
    }

    private static func text(_ number: Double) -> String {
        let whole = Int(number)
        return Double(whole) == number ? "\(whole)" : "\(number)"
    }
}

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
