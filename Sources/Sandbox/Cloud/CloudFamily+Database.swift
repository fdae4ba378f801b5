import Encoding
import Synchronization

/// The Realtime Database, over REST.
///
/// Traps: a write that is too much for its `writeSizeLimit` is refused as a whole, and so is a read
/// of too much; what is not there is `null`; what is not permitted is 401. A database is a host of
/// its own there, here it is `ns`, as with Firebase's emulator.
extension CloudFamily {
    func answerDatabase(_ call: Call, _ parts: [String]) throws(Refusal) -> Reply {
        guard let last = parts.last, last.hasSuffix(".json") else {
            throw Refusal(404, "append .json to your request URI")
        }
        let path = (parts.dropLast() + [String(last.dropLast(5))]).filter { !$0.isEmpty }
            .map(ParsedForm.decoded)
        guard configuration.mayUseDatabase else {
            return .json(["error": "Permission denied"], status: 401)
        }
        let name = call.query["ns"] ?? configuration.instance
        guard state.withLock({ $0.values[name] != nil }) else {
            throw Refusal(404, "There is no such database.")
        }
        switch call.method {
        case "GET": return readTree(call, name, path)
        case "DELETE": return deleteTrees([path], name, call)
        case "PATCH":
            guard case .object(let members) = try read(call),
                members.allSatisfy({ $0.value == .null })
            else { throw Refusal.malformed }
            return deleteTrees(members.map { path + [$0.name] }, name, call)
        default: throw Refusal(405, "Method not allowed")
        }
    }

    private func readTree(_ call: Call, _ name: String, _ path: [String]) -> Reply {
        state.withLock { state in
            let values = state.values[name, default: PathTable()]
            if let value = values[path.joined(separator: "/")] { return .json(.integer(value)) }
            let below = values.paths(below: path).map { $0.split(separator: "/") }
            guard !below.isEmpty else { return .json(.null) }
            var keys = Set(below.map { String($0[path.count]) }).sorted(by: Self.precedes)
            keys = Array(keys.prefix(call.query.number("limitToFirst") ?? .max))
            let known = Set(keys.map { $0[...] })
            let isShallow = call.query["shallow"] == "true"
            let read = below.filter { known.contains($0[path.count]) }.count
            guard isShallow || read <= configuration.treeMax else {
                return .json(["error": "Payload is too large"], status: 413)
            }
            // What is below the keys is left out in any case: nobody looks at it.
            return .json(.object(keys.map { JSONValue.Member($0, true) }))
        }
    }

    private func deleteTrees(_ paths: [[String]], _ name: String, _ call: Call) -> Reply {
        state.withLock { state in
            let doomed = Self.paths(at: paths, in: state.values[name, default: PathTable()])
            guard call.query["writeSizeLimit"] != "tiny" || doomed.count <= configuration.treeMax
            else {
                let text = """
                    Data to write exceeds the maximum size that can be modified with a single \
                    request.
                    """
                return .json(["error": .string(text)], status: 400)
            }
            for place in doomed { state.values[name]?[place] = nil }
            return .json(.null)
        }
    }

    private static func paths(at paths: [[String]], in values: PathTable<Int64>) -> Set<String> {
        Set(paths.flatMap { values.paths(below: $0) + [$0.joined(separator: "/")] })
            .filter { values[$0] != nil }
    }
}
