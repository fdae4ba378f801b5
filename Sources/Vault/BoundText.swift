/// Writes facts so that no two lists of facts give the same bytes: each is preceded by its length.
///
/// Used as additional authenticated data, so that a ciphertext opens in its own place only.
struct BoundText {
    private(set) var bytes: [UInt8]

    /// Starts with the format's version and a purpose that no other use has.
    init(version: UInt8, purpose: StaticString) {
        bytes = [version]
        bytes.reserveCapacity(160)
        append(purpose.description.utf8)
    }

    /// Adds one fact: its length as 32 bits, big end first, and its bytes.
    mutating func append(_ fact: some Collection<UInt8>) {
        let length = UInt32(fact.count)
        for shift in [24, 16, 8, 0] as [UInt32] {
            bytes.append(UInt8(truncatingIfNeeded: length >> shift))
        }
        bytes.append(contentsOf: fact)
    }
}
