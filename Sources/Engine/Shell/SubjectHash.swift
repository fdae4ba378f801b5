package import Lifecycle

/// The keyed hash of a provider's own name for a user; the provider is part of it, because names of
/// two providers are not comparable.
package enum SubjectHash {
    /// 32 bytes.
    package static func make(
        _ subject: Secret,
        at provider: ProviderName,
        _ hasher: any KeyedHasher
    ) -> [UInt8] {
        hasher.hash(provider.rawValue + "\u{0}" + subject.exposeText(), domain: .subject)
    }
}
