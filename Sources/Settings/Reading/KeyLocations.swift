/// One step from the root of a document to a value.
enum KeyStep: Hashable, Sendable {
    case key(String)
    case index(Int)
}

/// The line on which every key of a document first appears.
struct KeyLocations: Sendable {
    private var lines: [[KeyStep]: Int] = [:]

    mutating func note(_ path: [KeyStep], line: Int) {
        if lines[path] == nil { lines[path] = line }
    }

    func isWritten(_ path: [KeyStep]) -> Bool { lines[path] != nil }

    /// The line of `path`, or of the nearest thing around it that is written in the file.
    func line(of path: [KeyStep]) -> Int {
        var path = path[...]
        while !path.isEmpty {
            if let line = lines[Array(path)] { return line }
            path.removeLast()
        }
        return 1
    }
}
