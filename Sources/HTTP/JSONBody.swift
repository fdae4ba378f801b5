import Encoding
package import Engine
package import Lifecycle

/// A JSON object (RFC 8259) that is sent, encoded while it is built; it carries a token or a client
/// secret.
package struct JSONBody: Sendable, Redacted {
    private var members = JSONWriter()

    package init() {}

    package var bytes: [UInt8] { [UInt8(ascii: "{")] + members.bytes + [UInt8(ascii: "}")] }

    package mutating func add(_ name: StaticString, _ value: String) {
        members.member(name.description, value)
    }

    /// Adds one secret; bytes that are not UTF-8 are repaired, since JSON is text.
    package mutating func add(_ name: StaticString, _ value: Secret) {
        members.member(name.description, value.exposeText())
    }

    package mutating func add(_ name: StaticString, _ value: Int) {
        members.member(name.description, value)
    }

    package mutating func add(_ name: StaticString, flag: Bool) {
        members.member(name.description, flag)
    }

    package mutating func add(_ name: StaticString, texts: [String]) {
        members.member(name.description, texts)
    }

    package mutating func add(_ name: StaticString, object: JSONBody) {
        members.name(name.description)
        members.encoded(object.bytes)
    }

    package mutating func add(_ name: StaticString, list: [JSONBody]) {
        members.member(name.description, list) { writer, object in writer.encoded(object.bytes) }
    }

    /// Adds an object of objects, whose names are text from outside.
    package mutating func add(_ name: StaticString, objects: [(name: String, body: JSONBody)]) {
        members.name(name.description)
        members.object { writer in
            for object in objects {
                writer.name(object.name)
                writer.encoded(object.body.bytes)
            }
        }
    }
}

/// Fields of type `application/x-www-form-urlencoded`, encoded while they are added.
///
/// Serves as a body and as the query of a URL. Every byte but the unreserved ones is
/// percent-encoded, so a CR LF or an `&` inside a token is data, never structure. A form carries
/// tokens and client secrets.
package struct FormBody: Sendable, Redacted {
    package private(set) var bytes: [UInt8] = []

    /// 2 KiB hold a client secret and a token without growing.
    package init() { bytes.reserveCapacity(2048) }

    /// Adds one field, whose name is unreserved text.
    package mutating func add(_ name: StaticString, _ value: String) {
        beginField(name)
        PercentEncoding.append(value.utf8, to: &bytes)
    }

    /// Adds one field of raw bytes, such as a client assertion.
    package mutating func add(_ name: StaticString, _ value: [UInt8]) {
        beginField(name)
        PercentEncoding.append(value, to: &bytes)
    }

    /// Adds one secret field, byte for byte.
    package mutating func add(_ name: StaticString, _ value: Secret) {
        beginField(name)
        value.withBytes { PercentEncoding.append($0, to: &bytes) }
    }

    private mutating func beginField(_ name: StaticString) {
        if !bytes.isEmpty { bytes.append(UInt8(ascii: "&")) }
        bytes += name.description.utf8
        bytes.append(UInt8(ascii: "="))
    }
}

/// The compact form of a signed JWT (RFC 7515 §3.1).
package enum CompactToken {
    /// Signs `claims`; `members` of the header stand beside `alg` and `typ`.
    package static func sign(
        _ claims: JSONBody,
        header members: [(StaticString, String)],
        by signer: any MessageSigner
    ) throws(VaultError) -> [UInt8] {
        var header = JSONBody()
        header.add("alg", signer.algorithm.rawValue)
        header.add("typ", "JWT")
        for (name, value) in members { header.add(name, value) }
        var token: [UInt8] = []
        Base64URL.append(header.bytes, to: &token)
        token.append(UInt8(ascii: "."))
        Base64URL.append(claims.bytes, to: &token)
        let signature = try signer.sign(token)
        token.append(UInt8(ascii: "."))
        Base64URL.append(signature, to: &token)
        return token
    }
}
