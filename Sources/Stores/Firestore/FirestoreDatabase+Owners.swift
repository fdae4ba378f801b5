import Encoding
import HTTP
import Lifecycle

/// Whose documents a collection has, where a field says so.
extension FirestoreDatabase {
    /// Asks for the texts of a field in their order, a document each, behind one of them.
    ///
    /// The next page begins behind the last text of this one, so that the rest of an owner's
    /// documents is passed over. An inequality finds values of its own type only, in the order of
    /// their bytes ("Supported data types", cloud.google.com/firestore); should others follow, the
    /// texts are over.
    ///
    /// - Parameters:
    ///   - query: The collection, or any of its name, and the field.
    ///   - path: The names in the field of the query.
    ///   - after: The last text of the page before; empty for the first page.
    /// - Returns: Not empty as long as there may be more.
    /// - Throws: ``GoogleFailure``, also for texts that do not come in order.
    func owners(
        _ query: FieldQuery,
        at path: FieldPath,
        after: String
    ) async throws(GoogleFailure) -> [String] {
        let answer = try await post(query.parent, "runQuery", listing(query, after: after))
        guard let list = answer.array else { throw GoogleFailure(.unusable) }
        var texts: [String] = []
        // An answer without documents has one entry, with the time.
        for document in list.compactMap({ $0["document"] }) {
            guard let value = Self.value(of: document, at: path) else {
                throw GoogleFailure(.unusable)
            }
            guard let text = value["stringValue"]?.string else { break }
            guard
                (texts.last ?? after).utf8.lexicographicallyPrecedes(text.utf8)
                    || texts.last == text
            else { throw GoogleFailure(.unusable) }
            texts.append(text)
        }
        return texts
    }

    private func listing(_ query: FieldQuery, after: String) -> JSONBody {
        var field = JSONBody()
        field.add("fieldPath", query.field)
        var select = JSONBody()
        select.add("fields", list: [field])
        var value = JSONBody()
        value.add("stringValue", after)
        var test = JSONBody()
        test.add("field", object: field)
        test.add("op", "GREATER_THAN")
        test.add("value", object: value)
        var filter = JSONBody()
        filter.add("fieldFilter", object: test)
        var order = JSONBody()
        order.add("field", object: field)
        order.add("direction", "ASCENDING")
        var structured = JSONBody()
        structured.add("select", object: select)
        structured.add("from", list: [from(query)])
        structured.add("where", object: filter)
        structured.add("orderBy", list: [order])
        structured.add("limit", pageSize)
        var body = JSONBody()
        body.add("structuredQuery", object: structured)
        return body
    }

    private static func value(of document: JSONValue, at path: FieldPath) -> JSONValue? {
        var value: JSONValue?
        var fields = document["fields"]
        for name in path.names {
            value = fields?[name]
            fields = value?["mapValue"]?["fields"]
        }
        return value
    }
}
