/// Cuts the bytes of a checkpoint file into its notes.
///
/// The file is notes, each with a newline after it. No text of ours has an empty line, so a note is
/// what lies between every second pair of newlines. What is left over at the end of the file was
/// torn while it was written, or cut.
package struct NoteSplitter: Sendable {
    /// Bytes that do not make a whole note yet.
    package private(set) var rest: [UInt8] = []

    package init() {}

    /// Takes the next bytes, and returns the notes that are whole with them, without the newline
    /// between two.
    package mutating func take(_ bytes: [UInt8]) -> [[UInt8]] {
        rest += bytes
        var notes: [[UInt8]] = []
        var start = 0
        var gapCount = 0
        var index = 1
        while index < rest.count {
            if rest[index] == Self.newline, rest[index - 1] == Self.newline {
                gapCount += 1
                if gapCount == 2 {
                    notes.append(Array(rest[start..<index]))
                    start = index + 1
                    gapCount = 0
                    index = start - 1
                }
                index += 1
            }
            index += 1
        }
        rest.removeFirst(start)
        return notes
    }

    private static let newline = UInt8(ascii: "\n")
}
