import Lifecycle

/// A user as expunged knows one at Microsoft: object id and tenant, `OID.TID`.
///
/// `sub` is another one for each application and no use at Graph; `oid` is the same everywhere, but
/// only together with `tid` ("ID token claims reference").
struct MicrosoftID: Hashable, Sendable {
    let object: String
    let tenant: String

    /// Whether it is a personal account; by the tenant, since nothing is promised of the object id.
    var isPersonal: Bool { tenant == MicrosoftTenant.personal }

    /// Reads `OID.TID`; `nil` when it is not two GUIDs.
    init?(_ subject: Secret) {
        let parts = subject.exposeText().lowercased()
            .split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2, parts.allSatisfy(Self.isGUID) else { return nil }
        object = parts[0]
        tenant = parts[1]
    }

    /// Reads the claims `oid` and `tid`; `oid` needs the scope `profile`.
    init?(_ token: IDToken) {
        guard let object = token.text("oid")?.lowercased(), Self.isGUID(object),
            let tenant = token.text("tid")?.lowercased(), Self.isGUID(tenant)
        else { return nil }
        (self.object, self.tenant) = (object, tenant)
    }

    var subject: Secret { Secret("\(object).\(tenant)") }

    /// Whether Firebase's `rawId` is this user: the object id.
    ///
    /// That of a personal account has 16 digits at most, so Firebase leaves out dashes and the
    /// zeros before them.
    func isNamed(_ name: Secret) -> Bool {
        let name = name.exposeText().lowercased()
        guard isPersonal else { return name == object }
        let (digits, own) = (Self.digits(name), Self.digits(object))
        return !own.isEmpty && digits == own
    }

    private static func digits(_ text: String) -> String {
        String(text.filter { $0 != "-" }.drop { $0 == "0" })
    }

    /// 8-4-4-4-12 hexadecimal digits in lower case.
    static func isGUID(_ text: String) -> Bool {
        let groups = text.split(separator: "-", omittingEmptySubsequences: false)
        return groups.map(\.utf8.count) == [8, 4, 4, 4, 12]
            && groups.joined().utf8.allSatisfy {
                (0x30...0x39).contains($0) || (0x61...0x66).contains($0)
            }
    }
}
