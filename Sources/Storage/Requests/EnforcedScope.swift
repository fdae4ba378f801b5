import Lifecycle

/// The scope that requests name when they end, and what the ledger gets of their receipts.
struct EnforcedScope: Sendable {
    let id: Int
    let digest: @Sendable (Request) -> [UInt8]?
}
