/// Bounds of a Redis store, each with its reason.
enum RedisLimits {
    /// Name resolution, connect and TLS; far above any round trip.
    static let connect = Duration.seconds(5)
    /// One batch of commands; each takes milliseconds unless the server is stuck.
    static let reply = Duration.seconds(10)
    /// Keys looked at by one `SCAN`, during which the server serves nobody else: about 1 ms.
    static let scanCount = 1000
    /// Commands in one batch, and names in one of them; `UNLINK` frees memory in a thread of the
    /// server, so 500 names take less than a millisecond.
    static let batch = 500
    /// The longest rest between two steps.
    static let restMax = Duration.milliseconds(50)
    /// Steps of one pass, ten billion keys; a server that goes on is broken.
    static let sweepSteps = 10_000_000
    /// Steps of the look for families of keys; a million keys.
    static let coverageSteps = 1000
    /// Time of that look: an operator waits for it, and a client for 30 seconds.
    static let coverageTime = Duration.seconds(8)
    /// Names of key families that are told; more of them are probably named after users.
    static let coverageNames = 20
    /// Users whose ids are looked for in those names, some megabytes.
    static let coverageUsers = 100_000
    /// How long replicas may take to follow before the receipt says that they did not, in ms.
    static let replicaWait = 1000
}
