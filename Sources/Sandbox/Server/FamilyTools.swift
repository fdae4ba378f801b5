/// What every family gets from the sandbox.
struct FamilyTools: Sendable {
    let clock: SandboxClock
    let journal: CallJournal
    let address: SandboxAddress
    /// The number of grants, and of codes and tokens, that a family keeps.
    let capacity: Int
}
