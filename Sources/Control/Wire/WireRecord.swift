package import Encoding
package import Lifecycle

/// An object that its members describe and write: all that comes in, and what is answered so often
/// that `TypedJSON` is too slow, requests and problems.
package protocol WireRecord: WireObject, WireContent {
    static var members: [WireMember<Self>] { get }
}

extension WireRecord {
    package static var fields: [WireField] { members.map(\.field) }
    package static var wireType: WireFieldType { .object(schemaName) }

    package func write(to writer: inout JSONWriter) {
        writer.object { writer in
            for member in Self.members { member.write(self, &writer) }
        }
    }
}

/// A field of a record, and how it is written.
package struct WireMember<Object: Sendable>: Sendable {
    let field: WireField
    let write: @Sendable (Object, inout JSONWriter) -> Void

    static func required<Content: WireContent>(
        _ name: String,
        _ content: @escaping @Sendable (Object) -> Content,
        as type: WireFieldType = Content.wireType,
        _ summary: String
    ) -> WireMember {
        WireMember(field: .required(name, type, summary)) { object, writer in
            writer.name(name)
            content(object).write(to: &writer)
        }
    }

    /// A field that is left out when there is nothing to say.
    static func optional<Content: WireContent>(
        _ name: String,
        _ content: @escaping @Sendable (Object) -> Content?,
        as type: WireFieldType = Content.wireType,
        _ summary: String
    ) -> WireMember {
        WireMember(field: .optional(name, type, summary)) { object, writer in
            guard let content = content(object) else { return }
            writer.name(name)
            content.write(to: &writer)
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
        ) { object, writer in writer.member(name, secret(object)?.exposeText()) }
    }
}

/// What a field of a record holds.
package protocol WireContent: Sendable {
    static var wireType: WireFieldType { get }

    func write(to writer: inout JSONWriter)
}

extension WireContent where Self: TextCodable {
    package static var wireType: WireFieldType { .text }
    package func write(to writer: inout JSONWriter) { writer.string(description) }
}

extension WireContent where Self: FixedWidthInteger {
    package static var wireType: WireFieldType { .integer }
    package func write(to writer: inout JSONWriter) { writer.integer(Int64(self)) }
}

extension Int: WireContent {}
extension Int64: WireContent {}
extension UInt32: WireContent {}
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
    package func write(to writer: inout JSONWriter) { writer.string(self) }
}

extension Bool: WireContent {
    package static var wireType: WireFieldType { .boolean }
    package func write(to writer: inout JSONWriter) { writer.value(.bool(self)) }
}

extension Array: WireContent where Element: WireContent {
    package static var wireType: WireFieldType { .list(Element.wireType) }

    package func write(to writer: inout JSONWriter) {
        writer.array(self) { writer, item in item.write(to: &writer) }
    }
}
