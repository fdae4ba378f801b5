/// Everything that a sandbox is started with.
package struct SandboxConfiguration: Sendable {
    /// The port at 127.0.0.1; 0 lets the system choose.
    package var port = 0
    /// Gets `ca.pem`, `apple-key.p8`, `endpoint` and `logs.jsonl`; `nil` means a temporary
    /// directory that goes away with the sandbox.
    package var directory: String?
    /// The log of calls as JSON lines; `nil` means `logs.jsonl` in the directory.
    package var logFile: String?
    /// How Apple is played.
    package var apple = AppleConfiguration()
    /// How a generic OAuth 2 server is played.
    package var oauth2 = OAuth2Configuration()
    /// How Google is played.
    package var google = GoogleConfiguration()
    /// How Facebook is played.
    package var facebook = FacebookConfiguration()
    /// How Microsoft is played.
    package var microsoft = MicrosoftConfiguration()
    /// How GitHub is played.
    package var github = GitHubConfiguration()
    /// How X is played.
    package var x = XConfiguration()
    /// How Firebase and Google Cloud are played.
    package var cloud = CloudConfiguration()
    /// The faults from the start on.
    package var faults = FaultPlan.none
    /// How many grants, tokens of a kind and log records are kept in memory (about 200 bytes each).
    package var capacity = 1_000_000
    /// The clock, in Unix milliseconds.
    package var wallMilliseconds: @Sendable () -> Int64 = SandboxClock.wallMilliseconds

    /// Makes the configuration of a sandbox for tests.
    package init() {}
}
