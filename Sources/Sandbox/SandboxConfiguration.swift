/// Everything that a sandbox is started with.
package struct SandboxConfiguration: Sendable {
    /// The port at 127.0.0.1; 0 lets the system choose.
    package var port = 0
    /// Gets `ca.pem`, `apple-key.p8`, `endpoint` and `logs.jsonl`; `nil` means a temporary
    /// directory that goes away with the sandbox.
    package var directory: String?
    /// The log of calls as JSON lines; `nil` means `logs.jsonl` in the directory.
    package var logFile: String?
    package var apple = AppleConfiguration()
    package var oauth2 = OAuth2Configuration()
    package var google = GoogleConfiguration()
    package var facebook = FacebookConfiguration()
    package var microsoft = MicrosoftConfiguration()
    package var github = GitHubConfiguration()
    package var x = XConfiguration()
    package var cloud = CloudConfiguration()
    package var faults = FaultPlan.none
    /// How many grants, tokens of a kind and log records are kept in memory (about 200 bytes each).
    package var capacity = 1_000_000
    /// The clock, in Unix milliseconds.
    package var wallMilliseconds: @Sendable () -> Int64 = SandboxClock.wallMilliseconds

    package init() {}
}
