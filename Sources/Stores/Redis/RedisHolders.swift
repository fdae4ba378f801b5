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
