/// A statement with numbered parameters (`?1`), as a server reads it: with `?` for each.
struct MySQLStatementText {
    let sql: String
    /// The number of each `?`, from 0 on.
    let order: [Int]

    /// Nothing in quotation marks of any kind is a parameter.
    init(_ numbered: String) {
        var bytes: [UInt8] = []
        var order: [Int] = []
        var number: Int?
        var quote: UInt8?
        for byte in numbered.utf8 {
            if let digits = number {
                if (0x30...0x39).contains(byte) {
                    number = digits * 10 + Int(byte - 0x30)
                    continue
                }
                order.append(digits - 1)
                number = nil
            }
            if quote == nil, byte == UInt8(ascii: "?") { number = 0 }
            if quote == nil, Self.quotes.contains(byte) {
                quote = byte
            } else if quote == byte {
                // A doubled one opens again at once.
                quote = nil
            }
            bytes.append(byte)
        }
        if let number { order.append(number - 1) }
        sql = String(decoding: bytes, as: UTF8.self)
        self.order = order
    }

    private static let quotes = "'`\"".utf8
}
