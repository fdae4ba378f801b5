package import Lifecycle

/// Hashes of ids that one store names and another knows the user by.
extension KeyedHasher {
    /// Bound to the name: equal ids of two stores are never taken for each other; 32 bytes.
    package func tombstone(of id: UserID, as name: KeyName) -> [UInt8] {
        // No name has a zero byte.
        hash("\(name)\0\(id.exposeText())", domain: .erasedKey)
    }

    /// Tells the orders of one request apart; eight bytes are enough for ten thousand ids.
    func partitionKey(of id: UserID) -> String {
        hash(id.exposeText(), domain: .foundKey).prefix(8).map { byte in
            (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }.joined()
    }
}
