/// A type of key whose members are found one by one.
enum RedisMemberKind: String {
    case hash
    case set
    case sortedSet = "zset"

    /// What `TYPE` answered, for a key that has members; `nil` for any other.
    init?(_ reply: RESPValue) {
        guard let bytes = reply.bytes else { return nil }
        self.init(rawValue: String(decoding: bytes, as: UTF8.self))
    }

    private var letter: String {
        switch self {
        case .hash: "H"
        case .set: "S"
        case .sortedSet: "Z"
        }
    }

    var remove: [UInt8] { Array((self == .hash ? "HDEL" : letter + "REM").utf8) }

    /// Asks for one member.
    var find: [UInt8] {
        switch self {
        case .hash: Array("HEXISTS".utf8)
        case .set: Array("SISMEMBER".utf8)
        case .sortedSet: Array("ZSCORE".utf8)
        }
    }

    /// Goes through all members.
    var scan: [UInt8] { Array((letter + "SCAN").utf8) }

    /// Whether a value or score comes behind each member.
    var isPaired: Bool { self != .set }
}
