import Lifecycle

/// What an operator should look at: a row in `docs/guides/monitoring.md`.
enum StatusAlarm: String, Sendable, CaseIterable {
    case vaultSealed, configurationRefused, intakePaused, deadlineNear, deadlinePassed
    case massDeletionGuard, providerPaused, providerBroken, targetPaused, targetStuck
    case requestQuarantined, operatorsHidden, clockStepped, clockBehind, credentialNotSealed
    case spoolQuarantined, spoolUnwritable, spoolInWAL, spoolForeignObjects, spoolUnreadableRows
    case queueQuarantined, queueUnwritable, stateRolledBack, ledgerDamaged, ledgerUnwritable
    case tokensExpiring, dataReturned, purgeBlocked, recheckOverdue, messagesFailing

    /// Such as `spool_in_wal`.
    var code: String { rawValue.snakeCased }
}
