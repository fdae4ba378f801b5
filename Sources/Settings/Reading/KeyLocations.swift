/// One step from the root of a document to a value.
enum KeyStep: Hashable, Sendable {
    case key(String)
    case index(Int)
}

/// The line on which every key of a document first appears, or the variable that sets it.
struct KeyLocations: Sendable {
    private var lines: [[KeyStep]: Int] = [:]
    private var variables: [[KeyStep]: String] = [:]

    mutating func note(_ path: [KeyStep], line: Int) {
        if lines[path] == nil { lines[path] = line }
    }

    mutating func note(_ path: [KeyStep], variable: String) { variables[path] = variable }

    func isWritten(_ path: [KeyStep]) -> Bool { lines[path] != nil || variables[path] != nil }

    /// The variable that sets `path`, or the list around it.
    func variable(of path: [KeyStep]) -> String? {
        var path = path[...]
        while !path.isEmpty {
            if let variable = variables[Array(path)] { return variable }
            path.removeLast()
        }
        return nil
    }

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
