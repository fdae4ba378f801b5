/// Who is responsible for the data, as configured; part of the stored scope of an erasure.
package struct Controller: Codable, Hashable, Sendable {
    package var name: String?
    package var contact: String?

    package init(name: String?, contact: String?) { (self.name, self.contact) = (name, contact) }
}

/// A recipient of user data that must be notified of its erasure (GDPR article 19).
package struct Recipient: Codable, Hashable, Sendable {
    package var name: String
    package var contact: String?
    package var purpose: String?

    package init(name: String, contact: String?, purpose: String?) {
        (self.name, self.contact, self.purpose) = (name, contact, purpose)
    }
}
