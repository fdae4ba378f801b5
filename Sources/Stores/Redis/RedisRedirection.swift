/// Where a node of a cluster sends a client: `MOVED 3999 127.0.0.1:6381` or `ASK …`
/// (redis.io/docs/latest/operate/oss_and_stack/reference/cluster-spec).
struct RedisRedirection: Hashable, Sendable {
    /// For the next command alone, behind `ASKING`.
    let isAsk: Bool
    /// Empty for the host of the node that answered.
    let host: String
    let port: Int

    /// Reads an error; `nil` for any other.
    init?(_ line: [UInt8]) {
        let words = String(decoding: line, as: UTF8.self).split(separator: " ")
        guard words.count == 3, ["MOVED", "ASK"].contains(words[0]), Int(words[1]) != nil,
            let colon = words[2].lastIndex(of: ":"),
            let port = Int(words[2][words[2].index(after: colon)...]), (1...65_535).contains(port)
        else { return nil }
        isAsk = words[0] == "ASK"
        host = String(words[2][..<colon])
        self.port = port
    }
}
