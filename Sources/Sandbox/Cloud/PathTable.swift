/// Values by paths of names with slashes between, found quickly below two names and by a text that
/// they hold: thousands of users may have some.
struct PathTable<Value: Sendable>: Sendable {
    private(set) var all: [String: Value] = [:]
    /// Paths by their first two names.
    private var roots: [Substring: Set<String>] = [:]
    private var holders: [String: Set<String>] = [:]
    private let texts: @Sendable (Value) -> [String]

    /// - Parameter texts: What a value can be found by.
    init(texts: @escaping @Sendable (Value) -> [String] = { _ in [] }) { self.texts = texts }

    subscript(path: String) -> Value? {
        get { all[path] }
        set {
            if let old = all[path] {
                for text in texts(old) { Self.remove(path, at: text, from: &holders) }
            }
            all[path] = newValue
            guard let newValue else {
                Self.remove(path, at: Self.root(of: path), from: &roots)
                return
            }
            roots[Self.root(of: path), default: []].insert(path)
            for text in texts(newValue) { holders[text, default: []].insert(path) }
        }
    }

    func paths(holding text: String) -> some Collection<String> { holders[text] ?? [] }

    /// The paths that begin with some names and go on behind them.
    func paths(below names: [String]) -> [String] {
        let prefix = names.map { $0 + "/" }.joined()
        guard names.count >= 2 else { return all.keys.filter { $0.utf8.starts(with: prefix.utf8) } }
        return (roots[Self.root(of: prefix)] ?? []).filter { $0.utf8.starts(with: prefix.utf8) }
    }

    private static func root(of path: String) -> Substring {
        var slashes = 0
        let end = path.utf8.firstIndex { byte in
            if byte == UInt8(ascii: "/") { slashes += 1 }
            return slashes == 2
        }
        return path[..<(end ?? path.endIndex)]
    }

    private static func remove<Key>(
        _ path: String,
        at key: Key,
        from index: inout [Key: Set<String>]
    ) {
        index[key]?.remove(path)
        if index[key]?.isEmpty == true { index[key] = nil }
    }
}
