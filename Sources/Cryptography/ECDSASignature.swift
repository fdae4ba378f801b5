/// Turns ECDSA signatures from the form of JWTs (r‖s, RFC 7518 §3.4) into libcrypto's DER and back.
package enum ECDSASignature {
    /// DER of a 64-byte r‖s; `nil` for another length, as DER itself would have.
    package static func der(fromJOSE signature: [UInt8]) -> [UInt8]? {
        guard signature.count == 64 else { return nil }
        let numbers = integer(signature[..<32]) + integer(signature[32...])
        return [0x30, UInt8(numbers.count)] + numbers
    }

    /// r‖s of a DER signature as libcrypto writes it.
    package static func jose(fromDER signature: [UInt8]) -> [UInt8]? {
        var rest = signature.dropFirst(2)
        var numbers: [UInt8] = []
        for _ in 0..<2 {
            guard rest.count > 2, rest.removeFirst() == 0x02 else { return nil }
            let length = Int(rest.removeFirst())
            guard rest.count >= length else { return nil }
            let number = rest.prefix(length).drop { $0 == 0 }
            guard number.count <= 32 else { return nil }
            numbers += [UInt8](repeating: 0, count: 32 - number.count) + number
            rest = rest.dropFirst(length)
        }
        return numbers
    }

    private static func integer(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        var number = Array(bytes.drop { $0 == 0 })
        if number.first.map({ $0 >= 0x80 }) ?? true {
            number.insert(0, at: 0)
        }
        return [0x02, UInt8(number.count)] + number
    }
}
