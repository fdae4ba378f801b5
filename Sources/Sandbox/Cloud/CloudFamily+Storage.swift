import Encoding
import Synchronization

/// The buckets of Cloud Storage, over JSON.
///
/// Traps: a deletion without a generation only makes the live object noncurrent; what is deleted
/// stays softly where the bucket says so, and a second deletion is 404; holds and retention are 403
/// with a reason; pages are shorter than asked for.
extension CloudFamily {
    func answerStorage(_ call: Call, _ parts: [String]) throws(Refusal) -> Reply {
        guard parts.count >= 4, parts[0...2] == ["storage", "v1", "b"] else {
            throw Refusal(404, "Not Found")
        }
        // A slash inside a name is encoded.
        let names = parts[3...].map(ParsedForm.decoded)
        guard names[0] == configuration.bucket else {
            throw Refusal(404, "The specified bucket does not exist.", reason: "notFound")
        }
        switch (call.method, names.count) {
        case ("GET", 1):
            guard configuration.mayReadBucket else {
                throw Refusal(403, "No storage.buckets.get access.", reason: "forbidden")
            }
            let seconds = configuration.softDeletionSeconds
            let policy: JSONValue = ["retentionDurationSeconds": "\(seconds)"]
            return .json(["softDeletePolicy": seconds > 0 ? policy : nil])
        case ("GET", 2) where names[1] == "o": return listObjects(call)
        case ("DELETE", 3) where names[1] == "o": return try deleteObject(call, names[2])
        default: throw Refusal(404, "Not Found", reason: "notFound")
        }
    }

    private func listObjects(_ call: Call) -> Reply {
        let query = call.query
        let wantsSoft = query["softDeleted"] == "true"
        let wantsAll = query["versions"] == "true"
        let (prefix, start, end) = (query["prefix"] ?? "", query["startOffset"], query["endOffset"])
        let found = state.withLock { state in
            state.objects.filter { object in
                object.name.utf8.starts(with: prefix.utf8)
                    && (start.map { !Self.precedes(object.name, $0) } ?? true)
                    && (end.map { Self.precedes(object.name, $0) } ?? true)
                    && (wantsSoft
                        ? object.hardDeleteMilliseconds != nil
                        : object.hardDeleteMilliseconds == nil && (wantsAll || object.isLive))
            }
        }
        var entries = Self.entries(found, behind: prefix, by: query["delimiter"])
        // A token stands for the last entry; where that is gone, all that follows is skipped.
        if let token = query["pageToken"].map({ ExactText($0) }) {
            let place = entries.firstIndex { ExactText($0.key) == token }
            entries = place.map { Array(entries[($0 + 1)...]) } ?? []
        }
        let page = entries.prefix(min(query.number("maxResults") ?? 1000, configuration.pageMax))
        let (folders, objects) = (page.filter { $0.object == nil }, page.compactMap(\.object))
        return .json([
            "kind": "storage#objects",
            "prefixes": folders.isEmpty ? nil : .array(folders.map { .string($0.key) }),
            "items": objects.isEmpty ? nil : .array(objects.map(json)),
            "nextPageToken": JSONValue(page.count < entries.count ? page.last?.key : nil),
        ])
    }

    /// Names that go on behind the prefix with the delimiter are shown up to it, once; both kinds
    /// of entries count for a page (cloud.google.com/storage/docs/json_api/v1/objects/list).
    private static func entries(
        _ found: [CloudObject],
        behind prefix: String,
        by delimiter: String?
    ) -> [(key: String, object: CloudObject?)] {
        guard let delimiter else { return found.map { (key: token($0), object: $0) } }
        var entries: [(key: String, object: CloudObject?)] = []
        for object in found {
            let rest = Array(object.name.utf8.dropFirst(prefix.utf8.count))
            guard let end = rest.firstRange(of: Array(delimiter.utf8))?.upperBound else {
                entries.append((token(object), object))
                continue
            }
            let folder = prefix + String(decoding: rest[..<end], as: UTF8.self)
            if entries.last.map({ ExactText($0.key) }) != ExactText(folder) {
                entries.append((folder, nil))
            }
        }
        return entries
    }

    private func deleteObject(_ call: Call, _ name: String) throws(Refusal) -> Reply {
        let generation = call.query["generation"].flatMap { Int64($0) }
        let now = tools.clock.nowMilliseconds
        let keptFor = configuration.softDeletionSeconds * 1000
        let refusal = state.withLock { state -> Refusal? in
            let place = state.objects.firstIndex { object in
                ExactText(object.name) == ExactText(name) && object.hardDeleteMilliseconds == nil
                    && (generation.map { $0 == object.generation } ?? object.isLive)
            }
            guard let place else { return Refusal(404, "No such object.", reason: "notFound") }
            let object = state.objects[place]
            if object.isHeld {
                return Refusal(403, "Object is on hold.", reason: "objectUnderActiveHold")
            }
            if let end = object.retainedUntilMilliseconds, end > now {
                return Refusal(403, "Retention.", reason: "retentionPolicyNotMet")
            }
            if generation == nil {
                state.objects[place].isLive = false
            } else if keptFor > 0 {
                state.objects[place].hardDeleteMilliseconds = now + keptFor
            } else {
                state.objects.remove(at: place)
            }
            return nil
        }
        if let refusal { throw refusal }
        return Reply(status: 204)
    }

    /// Adds an object in the order in which listings tell them.
    func add(_ object: CloudObject) {
        state.withLock { state in
            var range = state.objects.startIndex..<state.objects.endIndex
            while !range.isEmpty {
                let middle = range.lowerBound + range.count / 2
                let other = state.objects[middle]
                let isBehind =
                    ExactText(other.name) == ExactText(object.name)
                    ? object.generation < other.generation
                    : Self.precedes(object.name, other.name)
                range = isBehind ? range.lowerBound..<middle : (middle + 1)..<range.upperBound
            }
            state.objects.insert(object, at: range.lowerBound)
        }
    }

    private func json(_ object: CloudObject) -> JSONValue {
        [
            "name": .string(object.name), "generation": .string("\(object.generation)"),
            "timeCreated": .string(Self.time(object.createdAtMilliseconds)),
            "temporaryHold": object.isHeld ? true : nil,
            "retentionExpirationTime": JSONValue(object.retainedUntilMilliseconds.map(Self.time)),
            "hardDeleteTime": JSONValue(object.hardDeleteMilliseconds.map(Self.time)),
        ]
    }

    private static func token(_ object: CloudObject) -> String {
        "\(object.name)\n\(1_000_000 + object.generation)"
    }
}
