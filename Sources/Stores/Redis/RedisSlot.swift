/// Which of the 16,384 slots of a cluster a key is in
/// (redis.io/docs/latest/operate/oss_and_stack/reference/cluster-spec, "Key distribution model").
enum RedisSlot {
    static let count = 16_384

    /// The slot of a key: of what is between the first `{` and the next `}`, if there is something,
    /// else of the whole key.
    static func slot(of key: [UInt8]) -> Int {
        guard let open = key.firstIndex(of: UInt8(ascii: "{")),
            let close = key[(open + 1)...].firstIndex(of: UInt8(ascii: "}")), close > open + 1
        else { return Int(checksum(key[...])) % count }
        return Int(checksum(key[(open + 1)..<close])) % count
    }

    /// CRC-16/XMODEM.
    private static func checksum(_ bytes: ArraySlice<UInt8>) -> UInt16 {
        var sum: UInt16 = 0
        for byte in bytes {
            sum ^= UInt16(byte) << 8
            for _ in 0..<8 { sum = sum & 0x8000 == 0 ? sum << 1 : (sum << 1) ^ 0x1021 }
        }
        return sum
    }
}
