/// Lower-case hexadecimal, two digits a byte.
package enum Hexadecimal {
    /// Encodes `bytes`.
    package static func encode(_ bytes: [UInt8]) -> [UInt8] {
        let digits = Array("0123456789abcdef".utf8)
        return bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
    }
}
