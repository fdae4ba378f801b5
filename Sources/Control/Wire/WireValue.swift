import Lifecycle

/// A text of a known set, or one that a newer daemon sent and this program does not know.
package enum WireValue<Known>: Sendable, Hashable, TextCodable
where Known: RawRepresentable & Sendable & Hashable, Known.RawValue == String {
    case known(Known)
    case unknown(String)

    package init(_ text: String) {
        self = Known(rawValue: text).map(Self.known) ?? .unknown(text)
    }

    package var known: Known? {
        switch self {
        case .known(let value): value
        case .unknown: nil
        }
    }

    package var description: String {
        switch self {
        case .known(let value): value.rawValue
        case .unknown(let text): text
        }
    }
}
