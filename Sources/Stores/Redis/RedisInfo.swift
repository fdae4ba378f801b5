/// What `INFO` tells about a server; empty where the user may not ask.
struct RedisInfo {
    static func command(_ section: String = "default") -> [[UInt8]] {
        ["INFO", section].map { Array($0.utf8) }
    }

    private var fields: [Substring: Substring] = [:]

    init(_ reply: RESPValue) {
        guard let bytes = reply.bytes else { return }
        for line in String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline) {
            let parts = line.split(separator: ":", maxSplits: 1)
            if parts.count == 2 { fields[parts[0]] = parts[1] }
        }
    }

    /// Valkey says `server_mode` (valkey.io/commands/info).
    var isCluster: Bool { (self["redis_mode"] ?? self["server_mode"]) == "cluster" }

    subscript(name: Substring) -> String? { fields[name].map(String.init) }
}
