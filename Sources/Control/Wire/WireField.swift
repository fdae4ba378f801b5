package import Encoding
import Lifecycle

/// The JSON type of one field, as the OpenAPI document spells it.
package indirect enum WireFieldType: Sendable, Hashable {
    case text
    /// A text that comes in: so many bytes without control characters.
    case limited(byteCounts: ClosedRange<Int>)
    /// A text that comes in, of 1 to so many bytes, and matches this pattern (ECMA-262) as a
    /// whole.
    case pattern(String, byteCountMax: Int)
    /// One of these, and of these only.
    case oneOf([String])
    case number(ClosedRange<Int64>)
    /// A list of so many items, in or out.
    case items(WireFieldType, ClosedRange<Int>)
    case time
    case uuid
    case secret
    case integer
    case boolean
    case choice([String])
    case object(String)
    case list(WireFieldType)
    case counts

    /// ``ComponentName``.
    static let name = WireFieldType.pattern(
        "[A-Za-z0-9._-]{1,\(ComponentName.byteCountMax)}",
        byteCountMax: ComponentName.byteCountMax
    )
    static let userID = WireFieldType.limited(byteCountMax: UserID.byteCountMax)
    static let line = WireFieldType.limited(byteCountMax: ControlLimits.textByteCountMax)

    static func limited(byteCountMax: Int) -> WireFieldType {
        .limited(byteCounts: 1...byteCountMax)
    }

    /// Empty for a code that was issued to no redirect URI.
    static let redirectURI = WireFieldType.limited(byteCounts: 0...ControlLimits.textByteCountMax)

    static func atMost(_ countMax: Int, _ item: WireFieldType) -> WireFieldType {
        .items(item, 0...countMax)
    }

    static let reason = WireFieldType.limited(byteCountMax: ControlLimits.reasonByteCountMax)

    /// The bytes of such a text when it comes in; `nil` for what is no text, and for a choice.
    ///
    /// ``InputObject`` refuses others, and the OpenAPI document says so.
    var byteCounts: ClosedRange<Int>? {
        switch self {
        case .limited(let counts): counts
        case .pattern(_, let most): 1...most
        case .secret: 1...ControlLimits.secretByteCountMax
        case .time: 1...ControlLimits.timeByteCountMax
        case .uuid: 1...ControlLimits.uuidByteCountMax
        case .text, .oneOf, .number, .items, .integer, .boolean, .choice, .object, .list, .counts:
            nil
        }
    }

    static func oneOf<Choice: CaseIterable & RawRepresentable<String>>(
        all type: Choice.Type
    ) -> WireFieldType {
        .oneOf(type.allCases.map(\.rawValue))
    }

    static func choice<Choice: CaseIterable & RawRepresentable<String>>(
        of type: Choice.Type
    ) -> WireFieldType {
        .choice(type.allCases.map(\.rawValue))
    }
}

/// One field of a JSON object of the API: name, type, whether it is always there, and what it says.
package struct WireField: Sendable, Hashable {
    package let name: String
    package let type: WireFieldType
    package let isRequired: Bool
    package let summary: String

    static func required(_ name: String, _ type: WireFieldType, _ summary: String) -> WireField {
        WireField(name: name, type: type, isRequired: true, summary: summary)
    }

    /// A field that is left out when there is nothing to say.
    static func optional(_ name: String, _ type: WireFieldType, _ summary: String) -> WireField {
        WireField(name: name, type: type, isRequired: false, summary: summary)
    }
}

/// The name and the fields of a JSON object in the OpenAPI document.
package struct WireSchema: Sendable {
    package let schemaName: String
    let fields: [WireField]
    /// Whether it comes in: then nothing else may occur in it, and `null` counts as absent.
    var isInput = false
    var rules: [JSONValue.Member] = []
}

/// A JSON object of the API that comes in.
package protocol WireInputPart: WireObject {
    /// What JSON Schema says of several fields at once.
    static var rules: [JSONValue.Member] { get }
}

extension WireInputPart {
    package static var rules: [JSONValue.Member] { [] }
}

/// A JSON object of the API that comes in as the body of a request.
package protocol WireInput: WireInputPart {
    /// Reads a body; the error names the first field at fault.
    init(body: [UInt8]) throws(ControlProblem)
}

extension WireInput {
    /// What a client sends; it holds the secrets in the clear.
    package var body: [UInt8] { jsonBytes }
}

/// One page of a list.
package struct WireList<Item: WireObject & Codable>: WireObject, Codable {
    package var items: [Item]
    package var nextCursor: String?

    package init(_ items: [Item], nextCursor: String? = nil) {
        (self.items, self.nextCursor) = (items, nextCursor)
    }

    package static var schemaName: String { "\(Item.schemaName)List" }

    package static var members: [WireMember<WireList>] {
        [
            .field("items", \.items, "The items of this page."),
            .field("next_cursor", \.nextCursor, "Pass it as `cursor` to get the next page."),
        ]
    }
}

/// A text of a known set, or one that a newer daemon sent and this program does not know.
package enum WireValue<Known>: Sendable, Hashable, TextCodable
where Known: RawRepresentable & Sendable & Hashable, Known.RawValue == String {
    case known(Known)
    case unknown(String)

    package init(_ text: String) {
        self = Known(rawValue: text).map(Self.known) ?? .unknown(text)
    }

    package var known: Known? {
        switch self {
        case .known(let value): value
        case .unknown: nil
        }
    }

    package var description: String {
        switch self {
        case .known(let value): value.rawValue
        case .unknown(let text): text
        }
    }
}
