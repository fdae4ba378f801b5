extension PathRules {
    /// Keys of the tree (firebase.google.com/docs/database/usage/limits, "Data tree").
    static let realtimeDatabase = PathRules(
        allows: { $0.utf8.count <= 768 && !$0.utf8.contains(where: isForbidden) }
    )

    private static func isForbidden(_ byte: UInt8) -> Bool {
        switch byte {
        case 0..<0x20, 0x7f: true
        case UInt8(ascii: "."), UInt8(ascii: "$"), UInt8(ascii: "#"): true
        case UInt8(ascii: "["), UInt8(ascii: "]"): true
        default: false
        }
    }
}
