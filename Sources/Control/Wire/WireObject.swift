package import Encoding
package import Lifecycle

/// A JSON object of the API, whose members describe and write it.
package protocol WireObject: WireContent {
    /// In the order of the document, and of what is written.
    static var members: [WireMember<Self>] { get }

    static var schemaName: String { get }
}

extension WireObject {
    package static var fields: [WireField] { members.map(\.field) }
    package static var wireType: WireFieldType { .object(schemaName) }
    package static var objectType: (any WireObject.Type)? { Self.self }

    /// The types of the objects in its fields.
    static var parts: [any WireObject.Type] { members.compactMap(\.objectType) }

    /// The type's own name without the prefix `Wire`.
    package static var schemaName: String {
        let name = "\(Self.self)"
        return name.hasPrefix("Wire") ? String(name.dropFirst(4)) : name
    }

    package var json: JSONValue { .object(Self.members.compactMap { $0.json(self) }) }

    package var jsonBytes: [UInt8] {
        var writer = JSONWriter()
        writer.value(json)
        return writer.bytes
    }
}

/// A field of an object, and its member in one of them.
package struct WireMember<Object: Sendable>: Sendable {
    let field: WireField
    var objectType: (any WireObject.Type)?
    /// `nil` for a field that is left out.
    let json: @Sendable (Object) -> JSONValue.Member?

    /// An optional field is left out when there is nothing to say.
    static func field<Content: WireContent>(
        _ name: String,
        _ content: @escaping @Sendable (Object) -> Content,
        as type: WireFieldType = Content.wireType,
        _ summary: String
    ) -> WireMember {
        let isRequired = Content.isRequired
        let field = WireField(name: name, type: type, isRequired: isRequired, summary: summary)
        return WireMember(field: field, objectType: Content.objectType) { object in
            let value = content(object).json
            return value == .null ? nil : JSONValue.Member(name, value)
        }
    }
}

extension WireMember where Object: WireInputPart {
    /// A secret comes in, and never goes out; its client writes it in the clear.
    static func secret(
        _ name: String,
        _ secret: @escaping @Sendable (Object) -> Secret?,
        isRequired: Bool = false,
        _ summary: String
    ) -> WireMember {
        WireMember(
            field: WireField(name: name, type: .secret, isRequired: isRequired, summary: summary)
        ) { object in secret(object).map { JSONValue.Member(name, .string($0.exposeText())) } }
    }
}

/// What a field of an object holds.
package protocol WireContent: Sendable {
    static var wireType: WireFieldType { get }

    static var isRequired: Bool { get }

    /// Of an object, of a list of them, or of one that is optional.
    static var objectType: (any WireObject.Type)? { get }

    /// How many a list of them has at most; `nil` where nothing bounds it.
    static var listMax: Int? { get }

    var json: JSONValue { get }
}

extension WireContent {
    package static var isRequired: Bool { true }
    package static var objectType: (any WireObject.Type)? { nil }
    package static var listMax: Int? { nil }
}

extension WireContent where Self: TextCodable {
    package static var wireType: WireFieldType { .text }
    package var json: JSONValue { .string(description) }
}

extension WireContent where Self: FixedWidthInteger {
    package static var wireType: WireFieldType { .integer }
    package var json: JSONValue { .integer(Int64(self)) }
}

extension Int: WireContent {}
extension Int64: WireContent {}
extension UInt32: WireContent {}
extension CalendarMonth: WireContent {}
extension MessageID: WireContent {}
extension ProviderName: WireContent {}
extension StoreName: WireContent {}

extension IdentityID: WireContent { package static var wireType: WireFieldType { .uuid } }
extension RequestID: WireContent { package static var wireType: WireFieldType { .uuid } }
extension WallTime: WireContent { package static var wireType: WireFieldType { .time } }

extension WireValue: WireContent where Known: CaseIterable {
    package static var wireType: WireFieldType { .choice(of: Known.self) }
}

extension String: WireContent {
    package static var wireType: WireFieldType { .text }
    package var json: JSONValue { .string(self) }
}

extension Bool: WireContent {
    package static var wireType: WireFieldType { .boolean }
    package var json: JSONValue { .bool(self) }
}

extension Optional: WireContent where Wrapped: WireContent {
    package static var wireType: WireFieldType { Wrapped.wireType }
    package static var isRequired: Bool { false }
    package static var objectType: (any WireObject.Type)? { Wrapped.objectType }
    package var json: JSONValue { map { $0.json } ?? .null }
}

extension Array: WireContent where Element: WireContent {
    package static var wireType: WireFieldType {
        Element.listMax.map { .atMost($0, Element.wireType) } ?? .list(Element.wireType)
    }

    package static var objectType: (any WireObject.Type)? { Element.objectType }

    package var json: JSONValue { .array(map(\.json)) }
}

extension Dictionary: WireContent where Key == String, Value == Int {
    package static var wireType: WireFieldType { .counts }

    package var json: JSONValue {
        .object(
            sorted { $0.key < $1.key }.map { JSONValue.Member($0.key, .integer(Int64($0.value))) }
        )
    }
}
