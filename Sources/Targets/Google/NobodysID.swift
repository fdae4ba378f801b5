import Lifecycle

/// An id that no user has, for calls that must find nothing.
enum NobodysID {
    /// 128 random bits, in characters that every store takes.
    static func make() -> UserID? {
        let digits = (0..<4).map { _ in String(UInt32.random(in: .min ... .max), radix: 16) }
        return UserID(digits.joined())
    }
}
