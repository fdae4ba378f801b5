import Encoding
import Lifecycle

/// When an item was made, as its application says.
enum ItemDate: Hashable, Sendable {
    /// The attribute that holds it, and how.
    struct Column: Hashable, Sendable {
        let attribute: String
        let unit: Unit
    }

    enum Unit: String, Hashable, Sendable, CaseIterable {
        case unixSeconds = "unix_s"
        case unixMilliseconds = "unix_ms"
        case iso8601
    }

    /// The item has no such attribute; it counts as old.
    case none
    case at(WallTime)
    /// The attribute holds something else.
    case unreadable

    init(_ attributes: JSONValue, _ column: Column) {
        guard let value = attributes[column.attribute], value["NULL"] == nil else {
            self = .none
            return
        }
        let time: WallTime? =
            switch column.unit {
            case .iso8601: value["S"]?.string.flatMap { WallTime(rfc3339: $0) }
            case .unixSeconds: Self.number(value).flatMap { Self.time($0, times: 1000) }
            case .unixMilliseconds: Self.number(value).flatMap { Self.time($0, times: 1) }
            }
        self = time.map { .at($0) } ?? .unreadable
    }

    /// A number, or a text of digits; a fraction is cut off.
    private static func number(_ value: JSONValue) -> Int64? {
        let text = value["N"]?.string ?? value["S"]?.string
        return text.flatMap { Int64($0.prefix { $0 != "." }) }
    }

    private static func time(_ number: Int64, times factor: Int64) -> WallTime? {
        let (product, overflow) = number.multipliedReportingOverflow(by: factor)
        return overflow ? nil : WallTime(unixMilliseconds: product)
    }
}
