/// Some of many, spread over all of them in the order in which they come: the first ones are often
/// the oldest.
struct SpreadSample<Element> {
    private let max: Int
    private var kept: [Element] = []
    private var stride = 1
    private(set) var count = 0

    init(max: Int) { self.max = max }

    mutating func add(_ element: Element) {
        defer { count += 1 }
        guard count.isMultiple(of: stride) else { return }
        if kept.count == 2 * max {
            kept = kept.indices.filter { $0.isMultiple(of: 2) }.map { kept[$0] }
            stride *= 2
            guard count.isMultiple(of: stride) else { return }
        }
        kept.append(element)
    }

    /// At most as many as were wanted.
    var elements: [Element] {
        guard kept.count > max else { return kept }
        return (0..<max).map { kept[$0 * kept.count / max] }
    }
}
