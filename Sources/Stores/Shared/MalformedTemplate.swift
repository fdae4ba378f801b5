/// A text of the configuration that leads to no data, or could lead to another user's.
package struct MalformedTemplate: Error, Hashable, Sendable, CustomStringConvertible {
    /// The text, or the part of it that is wrong.
    package let text: String
    /// What it lacks; words that follow "it must".
    package let requirement: String

    /// Names the text and what it must be, in one line.
    package var description: String { "'\(text)' must \(requirement)" }
}
