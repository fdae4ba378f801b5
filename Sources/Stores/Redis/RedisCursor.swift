/// Goes through keys or members with `SCAN` and its kin, a step at a time, resting between steps.
///
/// What is there from the first step to the last is seen; some of it twice
/// (redis.io/docs/latest/commands/scan).
struct RedisCursor {
    /// Steps made so far.
    private(set) var stepCount = 0

    private let connection: RedisConnection
    private let clock: StoreClock
    private let command: [[UInt8]]
    private let options: [[UInt8]]
    /// Members come with a value or score behind each.
    private let isPaired: Bool
    private var cursor = Array("0".utf8)
    private var lastStep = Duration.zero

    /// Begins with `SCAN`, or one of its kin with its key.
    init(
        _ command: [[UInt8]],
        match: [UInt8]?,
        isPaired: Bool = false,
        for sweep: RedisSweep
    ) {
        self.command = command
        self.isPaired = isPaired
        connection = sweep.connection
        clock = sweep.clock
        options =
            (match.map { [Array("MATCH".utf8), $0] } ?? [])
            + [Array("COUNT".utf8), Array("\(RedisLimits.scanCount)".utf8)]
    }

    /// Whether all were seen.
    private(set) var isDone = false

    /// The names of the next step, perhaps none; `nil` once all were seen.
    ///
    /// - Throws: ``RedisError``, also when the task was cancelled.
    mutating func next() async throws(RedisError) -> [[UInt8]]? {
        guard !isDone else { return nil }
        guard stepCount < RedisLimits.sweepSteps else { throw .unusable }
        if stepCount > 0 { try await rest() }
        stepCount += 1
        let start = clock.uptime()
        let reply = try connection.checked(
            try await connection.send([command + [cursor] + options])
        )[0]
        lastStep = clock.uptime() - start
        guard case .array(let parts) = reply, parts.count == 2, let next = parts[0].bytes,
            let names = parts[1].list
        else { throw RedisError.unusable }
        cursor = next
        isDone = cursor == Array("0".utf8)
        guard isPaired else { return names }
        return stride(from: 0, to: names.count, by: 2).map { names[$0] }
    }

    /// As long as the step took: the application has the server for at least half of the time.
    private func rest() async throws(RedisError) {
        do {
            try await clock.rest(min(lastStep, RedisLimits.restMax))
        } catch {
            throw RedisError.lost
        }
    }
}

/// Goes through the keys that a rule of members names, some at a time, each with its type.
struct RedisHolders {
    private let glob: NameGlob
    private let connection: RedisConnection
    private var cursor: RedisCursor
    private var isDone = false

    init(_ glob: NameGlob, for sweep: RedisSweep) {
        self.glob = glob
        connection = sweep.connection
        cursor = RedisCursor([Array("SCAN".utf8)], match: glob.serverPattern, for: sweep)
    }

    /// - Returns: `nil` once all were seen.
    mutating func next() async throws(RedisError) -> [(key: [UInt8], type: RESPValue)]? {
        var keys: [[UInt8]] = []
        if let key = glob.exactName {
            if isDone { return nil }
            (keys, isDone) = ([key], true)
        } else {
            guard let found = try await cursor.next() else { return nil }
            keys = found.filter(glob.matches)
        }
        return try await Self.types(of: keys, over: connection)
    }

    /// The type of each key.
    static func types(
        of keys: [[UInt8]],
        over connection: RedisConnection
    ) async throws(RedisError) -> [(key: [UInt8], type: RESPValue)] {
        let questions = keys.map { [Array("TYPE".utf8), $0] }
        let replies = try connection.checked(try await connection.send(questions))
        return zip(keys, replies).map { (key: $0, type: $1) }
    }
}
