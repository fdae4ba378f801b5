import Encoding

/// Text that never repeats.
package enum RandomText {
    /// 128 bits of the system's random source in hexadecimal.
    package static let nonce: @Sendable () -> String = {
        var generator = SystemRandomNumberGenerator()
        let bytes = (0..<16).map { _ in UInt8.random(in: 0...255, using: &generator) }
        return Hexadecimal.text(bytes)
    }
}
