import Engine
import Lifecycle
import Storage
import Vault

/// The metrics of one moment as Prometheus text 0.0.4
/// (https://prometheus.io/docs/instrumenting/exposition_formats/).
///
/// Names of providers and stores need no escapes, and nothing is personal.
struct Metrics: Sendable {
    let parts: BackendParts
    let now: WallTime
    let counts: RequestCounts
    let nextDeadline: WallTime?
    let providers: [ProviderName: LaneHealth]
    let stores: [StoreName: StoreHealth]
    let messages: [SubscriberQueue]
    let expiringTokens: [ProviderName: Int]
    let returnedRechecks: Int
    let measurements: Measurements.Values
    let ledgerCoveredCount: Int
    let isLedgerSound: Bool

    private typealias Sample = (labels: [(String, String)], value: Int64)

    var text: String {
        let versions = [("version", parts.version)] + Kinds.libraries
        let build: [Sample] = [(labels: versions, value: 1)]
        let families: [[String]] = [
            gauge("build_info", "The running versions.") { build }, service, ledgerFamilies,
            spoolFamilies, requests, providerFamilies, storeFamilies, notificationFamily,
            messageFamilies, tokenFamilies, recheckFamilies, erasures, calls, verdicts, purges,
            rows,
        ]
        return families.joined().joined(separator: "\n") + "\n"
    }

    private var service: [String] {
        let started = Int(parts.startedAt.unixMilliseconds / 1000)
        let health = parts.engine.inspect { $0.guardHealth(at: now) }
        let (isOpen, isRefused) = (!health.isClosed, parts.refusedReload() != nil)
        let (recent, most) = (health.purgesLastHour, health.purgesPerHourMax)
        let (isPaused, isSealed) = (parts.intake.isPaused, !parts.vault.isOpen)
        return numbers([
            ("start_time_seconds", "When this run started, as a Unix time.", started),
            ("intake_paused", "Whether new requests are refused.", isPaused ? 1 : 0),
            ("configuration_refused", "Whether the last reload was refused.", isRefused ? 1 : 0),
            ("vault_sealed", "Whether the vault key is missing.", isSealed ? 1 : 0),
            ("guard_open", "Whether the mass-deletion guard lets deletions begin.", isOpen ? 1 : 0),
            ("guard_purges_last_hour", "Purges that the guard counts.", recent),
            ("guard_purges_per_hour_max", "Purges that the guard allows in an hour.", most),
        ])
    }

    private var ledgerFamilies: [String] {
        let (covered, isSound) = (ledgerCoveredCount, isLedgerSound)
        return numbers([
            ("ledger_entries", "Entries of the ledger.", parts.state.ledgerSize),
            ("ledger_covered_entries", "Entries that a signed checkpoint covers.", covered),
            ("ledger_sound", "Whether the ledger agrees with its checkpoints.", isSound ? 1 : 0),
        ])
    }

    private var spoolFamilies: [String] {
        let spool = parts.spoolHealth()
        let wal = spool.isWAL ? 1 : 0
        let (foreign, unreadable) = (spool.foreignCount, spool.unreadableCount)
        return number(
            "credential_not_sealed",
            "Whether a credential could not be sealed since the start.",
            parts.credentials.failures.isAny ? 1 : 0
        )
            + gauge("spool_quarantined", "Whether the spool is left alone, by its failure.") {
                failures(spool.quarantine)
            }
            + gauge("spool_unwritable", "Whether the spool cannot be written, by its failure.") {
                failures(spool.writeFailure)
            }
            + numbers([
                ("spool_in_wal", "Whether an application switched the spool to WAL.", wal),
                ("spool_foreign_objects", "Objects in the spool that are not ours.", foreign),
                ("spool_unreadable_rows", "Rows of the spool that are too large.", unreadable),
            ])
            + gauge("queue_quarantined", "Whether a queue is left alone.") {
                queueSamples { $0.quarantine != nil }
            }
            + gauge("queue_unwritable", "Whether a queue cannot be written.") {
                queueSamples { $0.writeFailure != nil }
            }
    }

    private func queueSamples(_ isTrue: (SpoolHealth) -> Bool) -> [Sample] {
        parts.queueHealth().sorted { $0.key < $1.key }.map {
            ([("queue", $0.key)], isTrue($0.value) ? 1 : 0)
        }
    }

    private func failures(_ current: SpoolFailure?) -> [Sample] {
        SpoolFailure.allCases.map { ([("failure", $0.rawValue)], $0 == current ? 1 : 0) }
    }

    private var requests: [String] {
        let ended: [RequestState] = [.completed, .cancelled]
        let open = RequestState.allCases.filter {
            !ended.contains($0) && $0 != .submitted && $0 != .rejected
        }
        let oldestAge = counts.oldestAcceptedAt.map { max(0, now.since($0).milliseconds / 1000) }
        return gauge("requests", "Open requests by state.") {
            open.map { ([("state", $0.rawValue)], Int64(counts.byState[$0] ?? 0)) }
        }
            + gauge("requests_parked", "Parked requests by reason.") {
                ParkReason.allCases.map {
                    ([("reason", $0.rawValue)], Int64(counts.byParkReason[$0] ?? 0))
                }
            }
            + counter("requests_ended_total", "Requests that ended, by state.") {
                ended.map { ([("state", $0.rawValue)], Int64(counts.byState[$0] ?? 0)) }
            }
            + number(
                "oldest_open_request_age_seconds",
                "Age of the oldest open request.",
                Int(oldestAge ?? 0)
            )
            + gauge(
                "next_deadline_timestamp_seconds",
                "The first statutory deadline of an open request."
            ) {
                [nextDeadline].compactMap(\.self).map { ([], $0.unixMilliseconds / 1000) }
            }
    }

    private var providerFamilies: [String] {
        let sorted = providers.sorted { $0.key < $1.key }
        func samples(_ value: (LaneHealth) -> Int) -> [Sample] {
            sorted.map { ([("provider", $0.key.rawValue)], Int64(value($0.value))) }
        }
        return gauge("provider_breaker", "The breaker's state: 1 for the one that it is in.") {
            sorted.flatMap { name, lane -> [Sample] in
                ["closed", "open", "probing"].map { state in
                    let isIn = state == lane.breaker.label
                    return ([("provider", name.rawValue), ("state", state)], isIn ? 1 : 0)
                }
            }
        }
            + gauge("provider_paused", "Whether nothing is sent to the provider.") {
                samples { $0.isPaused ? 1 : 0 }
            }
            + gauge("provider_calls_in_flight", "Calls under way.") { samples(\.inFlightCount) }
            + gauge("provider_calls_waiting", "Calls that wait for a slot.") {
                samples(\.waitingCount)
            }
    }

    private var notificationFamily: [String] {
        let sorted = parts.notifications.counter.counts.sorted {
            ($0.key.provider.rawValue, $0.key.effect.rawValue)
                < ($1.key.provider.rawValue, $1.key.effect.rawValue)
        }
        let help = "Notifications of providers since the start, by what they did."
        return counter("notifications_total", help) {
            sorted.map { key, count in
                let labels = [("provider", key.provider.rawValue), ("effect", key.effect.rawValue)]
                return (labels, Int64(count))
            }
        }
    }

    private var tokenFamilies: [String] {
        let names = providers.keys.sorted()
        let (renewals, rotations) = (parts.tokens.renewals.counts, parts.tokens.rotations.counts)
        return gauge("tokens_expiring", "Stored tokens that will soon die unused, or did.") {
            names.map { ([("provider", $0.rawValue)], Int64(expiringTokens[$0] ?? 0)) }
        }
            + counter(
                "token_renewals_total",
                "Refreshes since the start that keep tokens alive, by how they ended."
            ) {
                names.flatMap { name in
                    RenewalResult.allCases.map { result -> Sample in
                        let key = TokenCounter.Renewal(provider: name, result: result)
                        let labels = [("provider", name.rawValue), ("result", result.rawValue)]
                        return (labels, Int64(renewals[key] ?? 0))
                    }
                }
            }
            + counter(
                "token_rotations_total",
                "Rotated refresh tokens that were stored since the start."
            ) {
                names.map { ([("provider", $0.rawValue)], Int64(rotations[$0] ?? 0)) }
            }
    }

    private var storeFamilies: [String] {
        let sorted = stores.sorted { $0.key < $1.key }
        func samples(_ value: (StoreHealth) -> Int) -> [Sample] {
            sorted.map { ([("store", $0.key.rawValue)], Int64(value($0.value))) }
        }
        return gauge("store_paused", "Whether nothing is purged from the store.") {
            samples { $0.isPaused ? 1 : 0 }
        }
            + gauge("store_calls_in_flight", "Calls under way, of many requests each.") {
                samples { $0.isBusy ? 1 : 0 }
            }
            + gauge("store_requests_waiting", "Requests that wait for the next call.") {
                samples(\.waitingCount)
            }
            + gauge("store_requests_blocked", "Requests that an obstacle in the store blocks.") {
                sorted.map { store in
                    let count = counts.blocked[store.key]?.values.reduce(0, +) ?? 0
                    return ([("store", store.key.rawValue)], Int64(count))
                }
            }
    }

    private var recheckFamilies: [String] {
        let (returned, found) = (returnedRechecks, parts.rechecks.isSampleFound ? 1 : 0)
        let (counts, overdue) = (parts.rechecks.counts, parts.rechecks.overdue)
        return counter("rechecks_total", "Rechecks of completed deletions since the start.") {
            Recheck.Outcome.allCases.map { ([("outcome", $0.rawValue)], Int64(counts[$0] ?? 0)) }
        }
            + numbers([
                ("deletions_returned", "Completed deletions with data that is back.", returned),
                ("sample_found", "Whether the last sample found data of an erased user.", found),
            ])
            + gauge("recheck_overdue", "Whether a store could not be checked for days.") {
                stores.keys.sorted().map {
                    ([("store", $0.rawValue)], overdue.contains($0) ? 1 : 0)
                }
            }
    }

    private func number(_ name: String, _ help: String, _ value: Int) -> [String] {
        gauge(name, help) { [([], Int64(value))] }
    }

    private func numbers(_ rows: [(name: String, help: String, value: Int)]) -> [String] {
        rows.flatMap { number($0.name, $0.help, $0.value) }
    }

    private func gauge(_ name: String, _ help: String, _ samples: () -> [Sample]) -> [String] {
        Self.head(name, "gauge", help) + samples().map { Self.line(name, $0.labels, "\($0.value)") }
    }

    private func counter(_ name: String, _ help: String, _ samples: () -> [Sample]) -> [String] {
        Self.head(name, "counter", help)
            + samples().map { Self.line(name, $0.labels, "\($0.value)") }
    }

    private static func head(_ name: String, _ type: String, _ help: String) -> [String] {
        ["# HELP expunged_\(name) \(help)", "# TYPE expunged_\(name) \(type)"]
    }

    static func line(_ name: String, _ labels: [(String, String)], _ value: String) -> String {
        let text = labels.map { "\($0)=\"\($1)\"" }.joined(separator: ",")
        return "expunged_\(name)\(text.isEmpty ? "" : "{\(text)}") \(value)"
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
            "Duration of purge calls to a store, of many requests each.",
            stores.keys.sorted().map { store in
                ([("store", store.rawValue)], measurements.purges[store] ?? .ofPurges)
            }
        )
    }

    private var rows: [String] {
        counter("purged_rows_total", "Rows, objects and keys that requests purged.") {
            stores.keys.sorted().flatMap { store -> [Sample] in
                let rows = measurements.rows[store] ?? Measurements.Rows()
                return [("erased", rows.erased), ("anonymized", rows.anonymized)].map {
                    ([("store", store.rawValue), ("action", $0)], Int64($1))
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

    private var messageFamilies: [String] {
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

extension LaneHealth.Breaker {
    fileprivate var label: String {
        switch self {
        case .closed: "closed"
        case .open: "open"
        case .probing: "probing"
        }
    }
}
