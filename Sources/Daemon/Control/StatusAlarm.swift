/// What an operator should look at; `rawValue` is the code in the answer to a status.
///
/// The table in `docs/guides/monitoring.md` has a row for each.
enum StatusAlarm: String, Sendable, CaseIterable {
    case vaultSealed = "vault_sealed"
    case intakePaused = "intake_paused"
    case massDeletionGuard = "mass_deletion_guard"
    case providerPaused = "provider_paused"
    case providerBroken = "provider_broken"
    case targetPaused = "target_paused"
    case requestQuarantined = "request_quarantined"
    case operatorsHidden = "operators_hidden"
    case clockStepped = "clock_stepped"
    case clockBehind = "clock_behind"
    case credentialNotSealed = "credential_not_sealed"
    case spoolQuarantined = "spool_quarantined"
    case spoolUnwritable = "spool_unwritable"
    case spoolInWAL = "spool_in_wal"
    case spoolForeignObjects = "spool_foreign_objects"
    case spoolUnreadableRows = "spool_unreadable_rows"
    case stateRolledBack = "state_rolled_back"
    case ledgerDamaged = "ledger_damaged"
    case ledgerUnwritable = "ledger_unwritable"
    case tokensExpiring = "tokens_expiring"
    case dataReturned = "data_returned"
    case purgeBlocked = "purge_blocked"
    case recheckOverdue = "recheck_overdue"
}
