import NIOCore

/// A dictionary that forgets its oldest entries when it is full.
struct BoundedTable<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private var values: [Key: Value] = [:]
    private var order = CircularBuffer<Key>()
    private let capacity: Int

    init(capacity: Int) { self.capacity = capacity }

    var all: some Sequence<Value> { values.values }

    subscript(_ key: Key) -> Value? { values[key] }

    mutating func insert(_ value: Value, for key: Key) {
        guard values.updateValue(value, forKey: key) == nil else { return }
        order.append(key)
        if order.count > capacity { values[order.removeFirst()] = nil }
    }
}
