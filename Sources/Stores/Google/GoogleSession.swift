import HTTP

/// What a store of Google's is called with.
struct GoogleSession: Sendable {
    let client: GoogleClient
    let settings: RemoteSettings
    let clock: StoreClock
}
