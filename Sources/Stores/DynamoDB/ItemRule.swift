import Encoding
import Lifecycle

/// Where a user's items are: `posts by author-index where author_id == {user_id}`.
///
/// The attribute is the partition key of the table, or of the index. Its whole value is compared,
/// so that no user's items are another's.
struct ItemRule: Hashable, Sendable, CustomStringConvertible {
    let description: String
    /// Without the prefix of the store.
    let table: String
    /// `nil` for the table itself.
    let index: String?
    let attribute: String
    /// What stands before the user id in the value.
    let before: String
    let after: String
    /// Attributes that go while the item stays; empty where the item is deleted.
    let released: [String]

    private static let form = "TABLE [by INDEX] where ATTRIBUTE == {user_id}"

    /// Reads a rule; one whose items stay ends with ` remove ATTRIBUTE[, ATTRIBUTE]`.
    init(_ text: String, releases: Bool) throws(MalformedTemplate) {
        let form = Self.form + (releases ? " remove ATTRIBUTE[, ATTRIBUTE]" : "")
        func malformed() -> MalformedTemplate {
            MalformedTemplate(text: text, requirement: "read like '\(form)'")
        }
        var words = text.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
        guard words.allSatisfy({ !$0.isEmpty }) else { throw malformed() }
        var released: [String] = []
        if releases {
            guard let start = words.firstIndex(of: "remove"), start + 1 < words.count else {
                throw malformed()
            }
            // Each but the last has its comma.
            released = words[(start + 1)...].map { String($0.prefix { $0 != "," }) }
            let list = released.joined(separator: ", ")
            guard list == words[(start + 1)...].joined(separator: " "),
                released.allSatisfy({ !$0.isEmpty })
            else { throw malformed() }
            words.removeLast(words.count - start)
        }
        index = words.count == 7 && words[1] == "by" ? words[2] : nil
        if index != nil { words.removeSubrange(1...2) }
        guard words.count == 5, words[1] == "where", words[3] == "==" else { throw malformed() }
        let parts = words[4].split(separator: "{user_id}", omittingEmptySubsequences: false)
        guard parts.count == 2, !words[0].contains("{"), !words[2].contains("{") else {
            throw malformed()
        }
        description = text
        table = words[0]
        attribute = words[2]
        (before, after) = (String(parts[0]), String(parts[1]))
        self.released = released
    }

    /// Whether the value is the user id and nothing else.
    var isBare: Bool { before.isEmpty && after.isEmpty }

    /// The value of a user.
    func text(of user: UserID) -> String { before + user.exposeText() + after }

    /// The user of a value; `nil` for a value of another form.
    func user(of text: String) -> UserID? {
        text.enclosed(by: before, after).flatMap { UserID($0) }
    }
}

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
