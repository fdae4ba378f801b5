extension PhaseTable {
    /// `revoke_tokens`, where it differs.
    static let revocationDifferences = """
        accepted
          cancelled +cancelled: absorbed
          completed +abandoned +done: abandon
        scheduled
          cancelled +cancelled: absorbed
        revoking, check
          cancelled +cancelled: absorbed
          completed +abandoned +done: abandon
        revoking, revoke
          completed +accepted +done: revoked
          cancelled +cancelled: absorbed
          refused too_late: cancel
          completed +abandoned +done: abandon
        revoking, confirm
          completed +proven +done: confirmed
          cancelled +cancelled: absorbed
          refused too_late: cancel
          completed +abandoned +done: abandon
        revoking, timer
          cancelled +cancelled: absorbed
          completed +abandoned +done: abandon
        revoking, code
          cancelled +cancelled: absorbed
          completed +abandoned +done: abandon
        accepted/vault_sealed
          cancelled +cancelled: absorbed
        accepted/on_hold
          cancelled +cancelled: absorbed
        accepted/quarantined
          cancelled +cancelled: absorbed
        accepted/awaiting_spool
          cancelled +cancelled: absorbed
        accepted/awaiting_credentials
          cancelled +cancelled: absorbed
        accepted/clock_behind
          cancelled +cancelled: absorbed
        scheduled/vault_sealed
          cancelled +cancelled: absorbed
        scheduled/on_hold
          cancelled +cancelled: absorbed
        scheduled/quarantined
          cancelled +cancelled: absorbed
        scheduled/awaiting_spool
          cancelled +cancelled: absorbed
        scheduled/awaiting_credentials
          cancelled +cancelled: absorbed
        scheduled/clock_behind
          cancelled +cancelled: absorbed
        revoking/needs_reauthentication
          cancelled +cancelled: absorbed
          completed +abandoned +done: abandon
        revoking/provider_paused
          cancelled +cancelled: absorbed
          completed +abandoned +done: abandon
        revoking/unknown_provider
          cancelled +cancelled: absorbed
          completed +abandoned +done: abandon
        revoking/vault_sealed
          cancelled +cancelled: absorbed
        revoking/on_hold
          cancelled +cancelled: absorbed
        revoking/shared_identity
          cancelled +cancelled: absorbed
          completed +abandoned +done: abandon
        revoking/quarantined
          cancelled +cancelled: absorbed
        revoking/awaiting_spool
          cancelled +cancelled: absorbed
        revoking/awaiting_credentials
          cancelled +cancelled: absorbed
        revoking/clock_behind
          cancelled +cancelled: absorbed
        """
}
