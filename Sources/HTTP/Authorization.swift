import Encoding
package import Lifecycle

/// The value of an `Authorization` header (RFC 9110 §11.6.2); redacted in every textual view.
package struct Authorization: Sendable, Redacted {
    private let value: Secret

    package var text: String { value.exposeText() }

    /// A bearer token (RFC 6750 §2.1); `nil` for a token that no header can carry.
    package static func bearer(_ token: Secret) -> Authorization? { scheme("Bearer", token) }

    /// Any scheme followed by one credential; `nil` for one that no header can carry.
    package static func scheme(_ scheme: StaticString, _ credential: Secret) -> Authorization? {
        let isVisible = credential.withBytes { bytes in
            !bytes.isEmpty && bytes.allSatisfy { (0x20...0x7e).contains($0) }
        }
        guard isVisible else { return nil }
        let prefix = Array("\(scheme) ".utf8)
        return Authorization(value: Secret(credential.withBytes { prefix + $0 }))
    }

    /// Name and password (RFC 7617), byte for byte.
    package static func basic(_ name: String, _ password: Secret) -> Authorization {
        let pair = Array(name.utf8) + [UInt8(ascii: ":")] + password.withBytes { $0 }
        return Authorization(value: Secret(Array("Basic ".utf8) + Base64.encode(pair)))
    }

    /// A client and its secret as OAuth wants them: each form-encoded first (RFC 6749 §2.3.1).
    package static func client(_ clientID: String, _ secret: Secret) -> Authorization {
        var password: [UInt8] = []
        secret.withBytes { PercentEncoding.append($0, to: &password) }
        return basic(PercentEncoding.encode(clientID), Secret(password))
    }
}
