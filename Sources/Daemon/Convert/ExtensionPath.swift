/// One path of the extension, and what it is here.
struct ExtensionPath: Sendable {
    let text: String
    /// With `{user_id}`; `nil` where none says the same.
    private(set) var template: String?
    private(set) var prefix: String?
    private(set) var object: String?
    private(set) var bucket = ""
    private var remark: String?

    /// The comment about it; `nil` where it means the same.
    func note(_ parameter: String) -> String? {
        remark.map { remark in
            let isLost = template == nil && prefix == nil && object == nil
            return "\(isLost ? "NOT CONVERTED" : "DIFFERENT"): \(parameter) '\(text)'. \(remark)"
        }
    }

    /// A document, or a collection, which expunged deletes with the document above it.
    init(firestore text: String) {
        self.text = text
        guard let path = namedOnce() else { return }
        let names = path.split(separator: "/", omittingEmptySubsequences: false)
        guard names.count.isMultiple(of: 2) else {
            remark =
                "It is a collection. Name the document above it in documents, which deletes all"
                + " below it, or use collections with a field."
            return
        }
        accept(path, when: names.allSatisfy { !$0.isEmpty && $0 != "." && $0 != ".." })
    }

    init(tree text: String) {
        self.text = text
        guard let path = namedOnce() else { return }
        let names = path.replacing("{user_id}", with: "x").split(
            separator: "/",
            omittingEmptySubsequences: false
        )
        accept(path, when: names.allSatisfy { !$0.isEmpty && !$0.contains(/[.$#\[\]]/) })
    }

    /// `BUCKET/NAME`; the extension deletes all objects whose names begin so.
    init(storage text: String) {
        self.text = text
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        bucket = String(parts[0])
        guard parts.count == 2, !bucket.isEmpty, !bucket.contains("{UID}"),
            let path = namedOnce(String(parts[1]))
        else {
            remark = remark ?? "It names no object of one bucket."
            return
        }
        guard
            let first = path.split(separator: "{user_id}", omittingEmptySubsequences: false)
                .last?.first
        else {
            (prefix, object) = (path + "/", path)
            remark =
                "It also deleted the objects of users whose ids begin with this one. expunged takes"
                + " this name and all below it."
            return
        }
        guard first.isASCII, !first.isLetter, !first.isNumber else {
            object = path
            remark = "expunged takes exactly this name: others may belong to other users."
            return
        }
        prefix = path
    }

    /// The path with the user id once; says why there is none.
    private mutating func namedOnce(_ path: String? = nil) -> String? {
        var path = path ?? text
        let isStorage = !bucket.isEmpty
        if !isStorage {
            path = path.split(separator: "/").joined(separator: "/")
        }
        switch path.split(separator: "{UID}", omittingEmptySubsequences: false).count - 1 {
        case 1: return path.replacing("{UID}", with: "{user_id}")
        case 0: remark = "It has no {UID}: it is the data of all users."
        default: remark = "It has {UID} more than once."
        }
        return nil
    }

    private mutating func accept(_ path: String, when isValid: Bool) {
        if isValid { template = path } else { remark = "The database accepts no such path." }
    }
}
