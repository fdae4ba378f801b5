import Lifecycle

/// The sentences of the status page.
package enum PageText {
    static func state(_ state: RequestState) -> String {
        switch state {
        case .submitted: "submitted"
        case .accepted: "accepted"
        case .scheduled: "in the grace period"
        case .revoking: "revoking tokens"
        case .purging: "erasing"
        case .verifying: "verifying"
        case .completed: "completed"
        case .rejected: "rejected"
        case .cancelled: "cancelled"
        case .parked: "waiting"
        }
    }

    /// What a parked request waits for, and who lets it go on.
    static func wait(_ reason: ParkReason) -> (why: String, remedy: String) {
        switch reason {
        case .needsReauthentication:
            (
                "No usable token of the user is left.",
                "The user signs in again, or an operator abandons it."
            )
        case .providerPaused:
            ("A provider is paused.", "An operator mends and resumes the provider.")
        case .unknownProvider:
            (
                "The configuration lacks a provider.",
                "An operator puts its section back, or abandons it."
            )
        case .storePaused:
            ("A store is paused.", "An operator mends and resumes the store.")
        case .vaultSealed:
            ("The vault key is missing.", "An operator provides the key.")
        case .onHold:
            ("A hold forbids the erasure.", "An operator releases the hold.")
        case .awaitingApproval:
            ("It needs an approval.", "An operator approves the plan.")
        case .massDeletionGuard:
            ("Too many deletions in an hour, or of its uid.", "An operator's override.")
        case .sharedIdentity:
            ("Two users have the same account at the provider.", "An operator decides.")
        case .quarantined:
            ("It crashed the service.", "An operator looks into it and retries.")
        case .awaitingSpool:
            ("The spool was not read since.", "The service, within a minute.")
        case .awaitingCredentials:
            ("A credential in the spool cannot be sealed.", "An operator mends the vault.")
        case .clockBehind:
            ("The clock is behind the ledger.", "An operator sets the clock.")
        case .withoutKeys:
            ("No key leads into a store.", "An operator puts the key back, or abandons it.")
        }
    }

    static func component(_ state: HealthState) -> String {
        switch state {
        case .ready: "works"
        case .paused: "paused"
        case .broken: "failing"
        case .probing: "tried again"
        case .held: "on hold"
        }
    }

    /// A code of the API as words; a newer one than this program knows, too.
    static func words(_ code: String) -> String { code.replacing("_", with: " ") }

    /// Such as `5 min` or `3 d`; whole, rounded down.
    package static func span(
        _ duration: Duration,
        _ units: [String] = [" s", " min", " h", " d"]
    ) -> String {
        let seconds = max(0, duration.milliseconds / 1000)
        return switch seconds {
        case ..<60: "\(seconds)\(units[0])"
        case ..<3600: "\(seconds / 60)\(units[1])"
        case ..<86_400: "\(seconds / 3600)\(units[2])"
        default: "\(seconds / 86_400)\(units[3])"
        }
    }
}

extension PageText {
    /// What an alarm of the status means; its words where this program does not know it.
    package static func alarm(_ code: String) -> String { alarms[code] ?? words(code) }

    package static let alarms: [String: String] = [
        "vault_sealed": "The vault key is missing. No token can be revoked.",
        "configuration_refused": "The last change of the configuration was refused.",
        "intake_paused": "The service refuses new requests.",
        "deadline_near": "The statutory deadline of an open request is less than a week away.",
        "deadline_passed": "The statutory deadline of an open request has passed.",
        "mass_deletion_guard": "Too many deletions in an hour, or of one uid: the rest waits.",
        "provider_paused": "A provider is paused.",
        "provider_broken": "A provider fails, or it or a client id is not configured.",
        "store_paused": "A store is paused.",
        "store_stuck": "A deletion in a store makes no progress.",
        "request_quarantined": "A request crashed the service and was stopped.",
        "operators_hidden": "The service cannot see who connects as an operator.",
        "clock_stepped": "The system clock jumped within the last day.",
        "clock_behind": "The clock is behind the ledger.",
        "credential_not_sealed": "A token in the spool cannot be sealed.",
        "spool_quarantined": "The service does not use the spool: it needs repair.",
        "spool_unwritable": "The spool cannot be written.",
        "spool_in_wal": "An application switched the spool to WAL.",
        "spool_foreign_objects": "An application added objects to the spool.",
        "spool_unreadable_rows": "The service skips rows of the spool that are too large.",
        "queue_quarantined": "The service cannot use a queue of an application.",
        "queue_unwritable": "The service cannot write states into a queue.",
        "state_rolled_back": "The state is older than its signed checkpoints.",
        "ledger_damaged": "The ledger does not match its checkpoints.",
        "ledger_unwritable": "The checkpoints of the ledger cannot be written.",
        "messages_failing": "A subscriber or the mail server fails. Messages wait.",
        "tokens_expiring": "Stored tokens expire soon.",
        "data_returned": "Data of an erased user came back.",
        "purge_blocked": "A store prevents an erasure.",
        "recheck_overdue": "A store could not be rechecked in time.",
    ]
}
