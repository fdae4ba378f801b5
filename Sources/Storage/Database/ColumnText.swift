import Encoding
import Lifecycle

/// A column that holds several values as one text: a JSON array, read by place.
struct ColumnText {
    private let values: [JSONValue]
    private let name: String

    /// - Throws: ``StorageError`` of kind `malformed` unless the text is an array; `name` says of
    ///   what.
    init(_ text: String, _ name: String) throws {
        guard let value = JSONValue(Array(text.utf8)) else { throw StorageError.malformed(name) }
        try self.init(value, name)
    }

    private init(_ value: JSONValue, _ name: String) throws {
        guard let values = value.array else { throw StorageError.malformed(name) }
        (self.values, self.name) = (values, name)
    }

    static func encode(_ values: [JSONValue]) -> String { JSONValue.array(values).compactText }

    /// `body` writes the items; for columns that each request writes several times.
    static func encode(_ body: (inout JSONWriter) -> Void) -> String {
        var writer = JSONWriter()
        writer.array(body)
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    var count: Int { values.count }

    func rows() throws -> [ColumnText] { try values.map { try ColumnText($0, name) } }

    func row(_ index: Int) throws -> ColumnText { try ColumnText(value(index), name) }

    func texts(from first: Int = 0) throws -> [String] {
        try (first..<max(first, count)).map { try text($0) }
    }

    func text(_ index: Int) throws -> String { try known(value(index).string) }

    func int64(_ index: Int) throws -> Int64 {
        guard case .integer(let number) = try value(index) else { throw malformed }
        return number
    }

    func int(_ index: Int) throws -> Int { Int(try int64(index)) }

    func time(_ index: Int) throws -> WallTime { WallTime(unixMilliseconds: try int64(index)) }

    func bool(_ index: Int) throws -> Bool {
        guard case .bool(let bool) = try value(index) else { throw malformed }
        return bool
    }

    func choice<T: RawRepresentable<String>>(_ index: Int, as type: T.Type) throws -> T {
        try known(T(rawValue: text(index)))
    }

    /// `nil` for `null`.
    func optional<T>(_ index: Int, _ read: (Int) throws -> T) throws -> T? {
        try value(index) == .null ? nil : read(index)
    }

    private var malformed: StorageError { .malformed(name) }

    private func value(_ index: Int) throws -> JSONValue {
        guard values.indices.contains(index) else { throw malformed }
        return values[index]
    }

    private func known<T>(_ value: T?) throws -> T {
        guard let value else { throw malformed }
        return value
    }
}

extension JSONValue {
    static func int(_ value: Int) -> JSONValue { .integer(Int64(value)) }
    static func time(_ value: WallTime?) -> JSONValue {
        value.map { .integer($0.unixMilliseconds) } ?? .null
    }
    static func text(_ value: String?) -> JSONValue { value.map { .string($0) } ?? .null }
}
