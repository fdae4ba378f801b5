/// The phase table of the request machine, in words.
///
/// A row starts with the way to be in a phase; its lines say `outcome: events`. `stays` means the
/// same phase and nothing to do; `+word` is an effect or an announcement, in order. Answers are
/// good ones: live, success, dead, done, clean. An answer that fits no call under way frees the
/// part that it names, which then takes its step again.
enum PhaseTable {
    /// `delete_account`, every phase and every event.
    static let deletion = """
        accepted
          revoking +check: due lookup planned revoked confirmed purged verified postponed update
          revoking +check: retry
          revoking +check: restored
          revoking +revoke: checked
          refused deletion_in_progress: absorbed
          refused no_plan: approve
          accepted/on_hold +parked: hold
          refused not_on_hold: release
          cancelled +cancelled: cancel
          purging +abandoned +purgeStarted +purge: abandon
          accepted/quarantined +parked: quarantine
        scheduled
          stays: due lookup planned checked revoked confirmed purged verified postponed update retry
          stays: restored
          refused deletion_in_progress: absorbed
          refused no_plan: approve
          scheduled/on_hold +parked: hold
          refused not_on_hold: release
          cancelled +cancelled: cancel
          scheduled +abandoned: abandon
          scheduled/quarantined +parked: quarantine
        revoking, check
          stays: due lookup planned purged verified postponed update retry restored
          revoking +revoke: checked
          revoking +check: revoked confirmed
          refused deletion_in_progress: absorbed
          refused no_plan: approve
          revoking/on_hold +parked: hold
          refused not_on_hold: release
          cancelled +cancelled: cancel
          purging +abandoned +purgeStarted +purge: abandon
          revoking/quarantined +parked: quarantine
        revoking, revoke
          stays: due lookup planned purged verified postponed update retry restored
          revoking +revoke: checked confirmed
          purging +accepted +purgeStarted +purge: revoked
          refused deletion_in_progress: absorbed
          refused no_plan: approve
          revoking/on_hold +parked: hold
          refused not_on_hold: release
          cancelled +cancelled: cancel
          purging +abandoned +purgeStarted +purge: abandon
          revoking/quarantined +parked: quarantine
        revoking, confirm
          stays: due lookup planned purged verified postponed update retry restored
          revoking +confirm: checked revoked
          purging +proven +purgeStarted +purge: confirmed
          refused deletion_in_progress: absorbed
          refused no_plan: approve
          revoking/on_hold +parked: hold
          refused not_on_hold: release
          cancelled +cancelled: cancel
          purging +abandoned +purgeStarted +purge: abandon
          revoking/quarantined +parked: quarantine
        revoking, timer
          stays: due lookup planned checked revoked confirmed purged verified postponed update
          stays: restored
          refused deletion_in_progress: absorbed
          refused no_plan: approve
          revoking/on_hold +parked: hold
          refused not_on_hold: release
          revoking +check: retry
          cancelled +cancelled: cancel
          purging +abandoned +purgeStarted +purge: abandon
          revoking/quarantined +parked: quarantine
        revoking, code
          stays: due lookup planned checked revoked confirmed purged verified postponed retry
          stays: restored
          refused deletion_in_progress: absorbed
          refused no_plan: approve
          revoking +check: update
          revoking/on_hold +parked: hold
          refused not_on_hold: release
          cancelled +cancelled: cancel
          purging +abandoned +purgeStarted +purge: abandon
          revoking/quarantined +parked: quarantine
        purging
          stays: due lookup planned checked revoked confirmed postponed retry restored
          verifying +verify: purged
          purging +purge: verified
          refused deletion_in_progress: absorbed update
          refused no_plan: approve
          purging/on_hold +parked: hold
          refused not_on_hold: release
          refused too_late: cancel
          refused nothing_to_abandon: abandon
          purging/quarantined +parked: quarantine
        verifying
          stays: due lookup planned checked revoked confirmed postponed retry
          purging: restored
          verifying +verify: purged
          completed +done: verified
          refused deletion_in_progress: absorbed update
          refused no_plan: approve
          verifying/on_hold +parked: hold
          refused not_on_hold: release
          refused too_late: cancel
          refused nothing_to_abandon: abandon
          verifying/quarantined +parked: quarantine
        accepted/vault_sealed
          stays: due lookup planned checked revoked confirmed purged verified postponed update retry
          stays: restored
          refused deletion_in_progress: absorbed
          refused no_plan: approve
          accepted/on_hold +parked: hold
          refused not_on_hold: release
          cancelled +cancelled: cancel
          accepted/vault_sealed +abandoned: abandon
          accepted/quarantined +parked: quarantine
        accepted/on_hold
          stays: due lookup planned checked revoked confirmed purged verified restored
          stays: postponed update hold retry
          refused deletion_in_progress: absorbed
          refused no_plan: approve
          revoking +check +resumed: release
          cancelled +cancelled: cancel
          accepted/on_hold +abandoned: abandon
          accepted/quarantined +parked: quarantine
        accepted/quarantined
          stays: due lookup planned checked revoked confirmed purged verified restored
          stays: postponed update hold quarantine
          refused deletion_in_progress: absorbed
          refused no_plan: approve
          refused not_on_hold: release
          revoking +check +resumed: retry
          cancelled +cancelled: cancel
          accepted/quarantined +abandoned: abandon
        accepted/awaiting_spool
          stays: due lookup planned checked revoked confirmed purged verified postponed update retry
          stays: restored
          refused deletion_in_progress: absorbed
          refused no_plan: approve
          accepted/on_hold +parked: hold
          refused not_on_hold: release
          cancelled +cancelled: cancel
          accepted/awaiting_spool +abandoned: abandon
          accepted/quarantined +parked: quarantine
        accepted/awaiting_credentials
          stays: due lookup planned checked revoked confirmed purged verified postponed update retry
          stays: restored
          refused deletion_in_progress: absorbed
          refused no_plan: approve
          accepted/on_hold +parked: hold
          refused not_on_hold: release
          cancelled +cancelled: cancel
          accepted/awaiting_credentials +abandoned: abandon
          accepted/quarantined +parked: quarantine
        accepted/clock_behind
          stays: due lookup planned checked revoked confirmed purged verified postponed update retry
          stays: restored
          refused deletion_in_progress: absorbed
          refused no_plan: approve
          accepted/on_hold +parked: hold
          refused not_on_hold: release
          cancelled +cancelled: cancel
          accepted/clock_behind +abandoned: abandon
          accepted/quarantined +parked: quarantine
        scheduled/vault_sealed
          stays: due lookup planned checked revoked confirmed purged verified postponed update retry
          stays: restored
          refused deletion_in_progress: absorbed
          refused no_plan: approve
          scheduled/on_hold +parked: hold
          refused not_on_hold: release
          cancelled +cancelled: cancel
          scheduled/vault_sealed +abandoned: abandon
          scheduled/quarantined +parked: quarantine
        scheduled/on_hold
          stays: due lookup planned checked revoked confirmed purged verified restored
          stays: postponed update hold retry
          refused deletion_in_progress: absorbed
          refused no_plan: approve
          scheduled +resumed: release
          cancelled +cancelled: cancel
          scheduled/on_hold +abandoned: abandon
          scheduled/quarantined +parked: quarantine
        scheduled/quarantined
          stays: due lookup planned checked revoked confirmed purged verified restored
          stays: postponed update hold quarantine
          refused deletion_in_progress: absorbed
          refused no_plan: approve
          refused not_on_hold: release
          scheduled +resumed: retry
          cancelled +cancelled: cancel
          scheduled/quarantined +abandoned: abandon
        scheduled/awaiting_spool
          stays: due lookup planned checked revoked confirmed purged verified postponed update retry
          stays: restored
          refused deletion_in_progress: absorbed
          refused no_plan: approve
          scheduled/on_hold +parked: hold
          refused not_on_hold: release
          cancelled +cancelled: cancel
          scheduled/awaiting_spool +abandoned: abandon
          scheduled/quarantined +parked: quarantine
        scheduled/awaiting_credentials
          stays: due lookup planned checked revoked confirmed purged verified postponed update retry
          stays: restored
          refused deletion_in_progress: absorbed
          refused no_plan: approve
          scheduled/on_hold +parked: hold
          refused not_on_hold: release
          cancelled +cancelled: cancel
          scheduled/awaiting_credentials +abandoned: abandon
          scheduled/quarantined +parked: quarantine
        scheduled/clock_behind
          stays: due lookup planned checked revoked confirmed purged verified postponed update retry
          stays: restored
          refused deletion_in_progress: absorbed
          refused no_plan: approve
          scheduled/on_hold +parked: hold
          refused not_on_hold: release
          cancelled +cancelled: cancel
          scheduled/clock_behind +abandoned: abandon
          scheduled/quarantined +parked: quarantine
        revoking/needs_reauthentication
          stays: due lookup planned checked revoked confirmed purged verified postponed retry
          stays: restored
          refused deletion_in_progress: absorbed
          refused no_plan: approve
          revoking +check +resumed: update
          revoking/on_hold +parked: hold
          refused not_on_hold: release
          cancelled +cancelled: cancel
          purging +abandoned +purgeStarted +purge +resumed: abandon
          revoking/quarantined +parked: quarantine
        revoking/provider_paused
          stays: due lookup planned checked revoked confirmed purged verified postponed update retry
          stays: restored
          refused deletion_in_progress: absorbed
          refused no_plan: approve
          revoking/on_hold +parked: hold
          refused not_on_hold: release
          cancelled +cancelled: cancel
          purging +abandoned +purgeStarted +purge +resumed: abandon
          revoking/quarantined +parked: quarantine
        revoking/unknown_provider
          stays: due lookup planned checked revoked confirmed purged verified postponed update retry
          stays: restored
          refused deletion_in_progress: absorbed
          refused no_plan: approve
          revoking/on_hold +parked: hold
          refused not_on_hold: release
          cancelled +cancelled: cancel
          purging +abandoned +purgeStarted +purge +resumed: abandon
          revoking/quarantined +parked: quarantine
        revoking/vault_sealed
          stays: due lookup planned checked revoked confirmed purged verified postponed update retry
          stays: restored
          refused deletion_in_progress: absorbed
          refused no_plan: approve
          revoking/on_hold +parked: hold
          refused not_on_hold: release
          cancelled +cancelled: cancel
          revoking/vault_sealed +abandoned: abandon
          revoking/quarantined +parked: quarantine
        revoking/on_hold
          stays: due lookup planned checked revoked confirmed purged verified restored
          stays: postponed update hold retry
          refused deletion_in_progress: absorbed
          refused no_plan: approve
          revoking +revoke +resumed: release
          cancelled +cancelled: cancel
          revoking/on_hold +abandoned: abandon
          revoking/quarantined +parked: quarantine
        revoking/shared_identity
          stays: due lookup planned checked revoked confirmed purged verified postponed retry
          stays: restored
          refused deletion_in_progress: absorbed
          refused no_plan: approve
          revoking +check +resumed: update
          revoking/on_hold +parked: hold
          refused not_on_hold: release
          cancelled +cancelled: cancel
          purging +abandoned +purgeStarted +purge +resumed: abandon
          revoking/quarantined +parked: quarantine
        revoking/quarantined
          stays: due lookup planned checked revoked confirmed purged verified restored
          stays: postponed update hold quarantine
          refused deletion_in_progress: absorbed
          refused no_plan: approve
          refused not_on_hold: release
          revoking +revoke +resumed: retry
          cancelled +cancelled: cancel
          revoking/quarantined +abandoned: abandon
        revoking/awaiting_spool
          stays: due lookup planned checked revoked confirmed purged verified postponed update retry
          stays: restored
          refused deletion_in_progress: absorbed
          refused no_plan: approve
          revoking/on_hold +parked: hold
          refused not_on_hold: release
          cancelled +cancelled: cancel
          revoking/awaiting_spool +abandoned: abandon
          revoking/quarantined +parked: quarantine
        revoking/awaiting_credentials
          stays: due lookup planned checked revoked confirmed purged verified postponed update retry
          stays: restored
          refused deletion_in_progress: absorbed
          refused no_plan: approve
          revoking/on_hold +parked: hold
          refused not_on_hold: release
          cancelled +cancelled: cancel
          revoking/awaiting_credentials +abandoned: abandon
          revoking/quarantined +parked: quarantine
        revoking/clock_behind
          stays: due lookup planned checked revoked confirmed purged verified postponed update retry
          stays: restored
          refused deletion_in_progress: absorbed
          refused no_plan: approve
          revoking/on_hold +parked: hold
          refused not_on_hold: release
          cancelled +cancelled: cancel
          revoking/clock_behind +abandoned: abandon
          revoking/quarantined +parked: quarantine
        purging/store_paused
          stays: due lookup planned checked revoked confirmed verified postponed retry restored
          verifying/store_paused: purged
          refused deletion_in_progress: absorbed update
          refused no_plan: approve
          purging/on_hold +parked: hold
          refused not_on_hold: release
          refused too_late: cancel
          refused nothing_to_abandon: abandon
          purging/quarantined +parked: quarantine
        purging/vault_sealed
          stays: due lookup planned checked revoked confirmed purged verified postponed retry
          stays: restored
          refused deletion_in_progress: absorbed update
          refused no_plan: approve
          purging/on_hold +parked: hold
          refused not_on_hold: release
          refused too_late: cancel
          refused nothing_to_abandon: abandon
          purging/quarantined +parked: quarantine
        purging/on_hold
          stays: due lookup planned checked revoked confirmed purged verified postponed hold retry
          stays: restored
          refused deletion_in_progress: absorbed update
          refused no_plan: approve
          verifying +verify +resumed: release
          refused too_late: cancel
          refused nothing_to_abandon: abandon
          purging/quarantined +parked: quarantine
        purging/mass_deletion_guard
          stays: due lookup planned checked revoked confirmed purged verified postponed retry
          stays: restored
          refused deletion_in_progress: absorbed update
          refused no_plan: approve
          purging/on_hold +parked: hold
          refused not_on_hold: release
          cancelled +cancelled: cancel
          refused nothing_to_abandon: abandon
          purging/quarantined +parked: quarantine
        purging/quarantined
          stays: due lookup planned checked revoked confirmed purged verified restored
          stays: postponed hold quarantine
          refused deletion_in_progress: absorbed update
          refused no_plan: approve
          refused not_on_hold: release
          verifying +verify +resumed: retry
          refused too_late: cancel
          refused nothing_to_abandon: abandon
        purging/clock_behind
          stays: due lookup planned checked revoked confirmed purged verified postponed retry
          stays: restored
          refused deletion_in_progress: absorbed update
          refused no_plan: approve
          purging/on_hold +parked: hold
          refused not_on_hold: release
          refused too_late: cancel
          refused nothing_to_abandon: abandon
          purging/quarantined +parked: quarantine
        verifying/store_paused
          stays: due lookup planned checked revoked confirmed purged postponed retry
          purging/store_paused: restored
          completed +done: verified
          refused deletion_in_progress: absorbed update
          refused no_plan: approve
          verifying/on_hold +parked: hold
          refused not_on_hold: release
          refused too_late: cancel
          refused nothing_to_abandon: abandon
          verifying/quarantined +parked: quarantine
        verifying/vault_sealed
          stays: due lookup planned checked revoked confirmed purged verified postponed retry
          stays: restored
          refused deletion_in_progress: absorbed update
          refused no_plan: approve
          verifying/on_hold +parked: hold
          refused not_on_hold: release
          refused too_late: cancel
          refused nothing_to_abandon: abandon
          verifying/quarantined +parked: quarantine
        verifying/on_hold
          stays: due lookup planned checked revoked confirmed purged verified postponed hold retry
          stays: restored
          refused deletion_in_progress: absorbed update
          refused no_plan: approve
          completed +done: release
          refused too_late: cancel
          refused nothing_to_abandon: abandon
          verifying/quarantined +parked: quarantine
        verifying/quarantined
          stays: due lookup planned checked revoked confirmed purged verified restored
          stays: postponed hold quarantine
          refused deletion_in_progress: absorbed update
          refused no_plan: approve
          refused not_on_hold: release
          completed +done: retry
          refused too_late: cancel
          refused nothing_to_abandon: abandon
        verifying/without_keys
          stays: due lookup planned checked revoked confirmed purged postponed
          completed +done: verified
          purging +purge +resumed: retry restored
          verifying +abandoned +verify +resumed: abandon
          refused deletion_in_progress: absorbed update
          refused no_plan: approve
          verifying/on_hold +parked: hold
          refused not_on_hold: release
          refused too_late: cancel
          verifying/quarantined +parked: quarantine
        verifying/clock_behind
          stays: due lookup planned checked revoked confirmed purged verified postponed retry
          stays: restored
          refused deletion_in_progress: absorbed update
          refused no_plan: approve
          verifying/on_hold +parked: hold
          refused not_on_hold: release
          refused too_late: cancel
          refused nothing_to_abandon: abandon
          verifying/quarantined +parked: quarantine
        revoking, plan
          stays: due lookup checked revoked confirmed purged verified postponed update retry
          stays: restored
          revoking/awaiting_approval +parked: planned
          refused deletion_in_progress: absorbed
          refused no_plan: approve
          revoking/on_hold +parked: hold
          refused not_on_hold: release
          cancelled +cancelled: cancel
          revoking +abandoned: abandon
          revoking/quarantined +parked: quarantine
        purging, plan
          stays: due lookup checked revoked confirmed purged verified postponed approve retry
          stays: restored
          purging +purgeStarted +purge: planned
          refused deletion_in_progress: absorbed update
          purging/on_hold +parked: hold
          refused not_on_hold: release
          cancelled +cancelled: cancel
          refused nothing_to_abandon: abandon
          purging/quarantined +parked: quarantine
        revoking/awaiting_approval
          stays: due lookup checked revoked confirmed planned purged verified postponed update
          stays: restored
          revoking +approved +check +resumed: approve
          revoking +plan +resumed: retry
          refused deletion_in_progress: absorbed
          revoking/on_hold +parked: hold
          refused not_on_hold: release
          cancelled +cancelled: cancel
          revoking/awaiting_approval +abandoned: abandon
          revoking/quarantined +parked: quarantine
        purging/awaiting_approval
          stays: due lookup checked revoked confirmed planned purged verified postponed restored
          purging +approved +plan +resumed: approve
          purging +plan +resumed: retry
          refused deletion_in_progress: absorbed update
          purging/on_hold +parked: hold
          refused not_on_hold: release
          cancelled +cancelled: cancel
          refused nothing_to_abandon: abandon
          purging/quarantined +parked: quarantine
        completed
          stays: due lookup planned checked revoked confirmed purged verified postponed
          refused already_ended: approve absorbed update hold release retry cancel abandon
          refused already_ended: quarantine
          refused already_ended: restored
        cancelled
          stays: due lookup planned checked revoked confirmed purged verified postponed
          refused already_ended: approve absorbed update hold release retry cancel abandon
          refused already_ended: quarantine
          refused already_ended: restored
        """
}
