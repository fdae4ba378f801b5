import Settings

/// A text of the configuration that leads to no data, or could lead to another user's.
package struct MalformedTemplate: Error, Hashable, Sendable, CustomStringConvertible {
    /// The text, or the part of it that is wrong.
    package let text: String
    /// What it lacks; words that follow "it must".
    package let requirement: String

    /// Names the text and what it must be, in one line.
    package var description: String { "'\(text)' must \(requirement)" }
}

extension SectionProblems {
    /// Reads the values of a key, and reports those that are malformed.
    mutating func read<Value, Template>(
        _ values: [Value],
        _ name: String,
        _ read: (Value) throws(MalformedTemplate) -> Template
    ) -> [Template] {
        var templates: [Template] = []
        for value in values {
            do throws(MalformedTemplate) {
                templates.append(try read(value))
            } catch {
                report(.malformed, name, "\(error)")
            }
        }
        return templates
    }
}

extension String {
    /// What stands between two texts, by bytes; `nil` for nothing, and where it is no text.
    func enclosed(by head: String, _ tail: String) -> String? {
        let count = utf8.count - head.utf8.count - tail.utf8.count
        guard count > 0, utf8.starts(with: head.utf8),
            utf8.suffix(tail.utf8.count).elementsEqual(tail.utf8)
        else { return nil }
        return String(validating: utf8.dropFirst(head.utf8.count).prefix(count), as: UTF8.self)
    }
}
