import Encoding

/// What a handler answers with.
package enum RouteReply: Sendable {
    /// One JSON object, and the path of what it created.
    case json([UInt8], location: String? = nil)
    case metrics([UInt8])
    /// A web page; it may load nothing, and use only the style with the hash `styleHash`.
    case page([UInt8], styleHash: String)
    case events(AsyncStream<WireEvent>)
    case nothing

    /// One object as JSON with sorted names.
    static func object(
        _ object: some Encodable,
        location: String? = nil
    ) throws(ControlProblem) -> RouteReply {
        var writer = JSONWriter()
        switch object {
        // Every submission and every list answers with these: by hand, not by `TypedJSON`.
        case let request as WireRequest: request.write(to: &writer)
        case let page as WireList<WireRequest>:
            writer.object { writer in
                writer.member("items", page.items) { writer, item in item.write(to: &writer) }
                writer.member("next_cursor", page.nextCursor)
            }
        default: return .json(try encode(object), location: location)
        }
        return .json(writer.bytes, location: location)
    }

    private static func encode(_ object: some Encodable) throws(ControlProblem) -> [UInt8] {
        do { return try TypedJSON.bytes(object) } catch { throw ControlProblem(.internal) }
    }
}
