/// Values by paths of names with slashes between, found quickly below two names and by a text that
/// they hold: thousands of users may have some.
struct PathTable<Value: Sendable>: Sendable {
    private var values: [ExactText: Value] = [:]
    /// Paths by their first two names.
    private var roots: [ExactText: Set<ExactText>] = [:]
    private var holders: [ExactText: Set<ExactText>] = [:]
    private let texts: @Sendable (Value) -> [String]

    /// - Parameter texts: What a value can be found by.
    init(texts: @escaping @Sendable (Value) -> [String] = { _ in [] }) { self.texts = texts }

    subscript(path: String) -> Value? {
        get { values[ExactText(path)] }
        set {
            let place = ExactText(path)
            if let old = values[place] {
                for text in texts(old) { Self.remove(place, at: ExactText(text), from: &holders) }
            }
            values[place] = newValue
            guard let newValue else {
                Self.remove(place, at: Self.root(of: path), from: &roots)
                return
            }
            roots[Self.root(of: path), default: []].insert(place)
            for text in texts(newValue) { holders[ExactText(text), default: []].insert(place) }
        }
    }

    var paths: [String] { values.keys.map(\.text) }

    /// Of two paths that Swift takes for one, either.
    var all: [String: Value] {
        Dictionary(values.map { ($0.key.text, $0.value) }) { first, _ in first }
    }

    func paths(holding text: String) -> [String] {
        holders[ExactText(text), default: []].map(\.text)
    }

    /// The paths that begin with some names and go on behind them.
    func paths(below names: [String]) -> [String] {
        let prefix = names.map { $0 + "/" }.joined()
        let places =
            names.count >= 2 ? Array(roots[Self.root(of: prefix), default: []]) : Array(values.keys)
        return places.map(\.text).filter { $0.utf8.starts(with: prefix.utf8) }
    }

    private static func root(of path: String) -> ExactText {
        var slashes = 0
        let end = path.utf8.firstIndex { byte in
            if byte == UInt8(ascii: "/") { slashes += 1 }
            return slashes == 2
        }
        return ExactText(path[..<(end ?? path.endIndex)])
    }

    private static func remove(
        _ path: ExactText,
        at key: ExactText,
        from index: inout [ExactText: Set<ExactText>]
    ) {
        index[key]?.remove(path)
        if index[key]?.isEmpty == true { index[key] = nil }
    }
}

/// A name as Google compares it, by its bytes: Swift takes two ways to write an `é` for one.
struct ExactText: Hashable, Sendable {
    let text: String

    init(_ text: some StringProtocol) { self.text = String(text) }

    static func == (left: ExactText, right: ExactText) -> Bool {
        left.text.utf8.elementsEqual(right.text.utf8)
    }

    func hash(into hasher: inout Hasher) { for byte in text.utf8 { hasher.combine(byte) } }
}
