/// Names by which applications commonly call user ids, tables of users and personal data.
enum PersonalNames {
    /// Names of columns that say nothing about what they identify.
    static let plain: Set<String> = ["id", "key", "name", "pk", "guid", "uuid", "value", "ref"]

    private static let tables: Set<String> = [
        "user", "users", "account", "accounts", "member", "members", "customer", "customers",
        "person", "people", "persons", "profile", "profiles", "userprofile", "userprofiles",
        "authuser", "appuser", "appusers",
    ]

    private static let userIDs: Set<String> = [
        "uid", "userid", "useruuid", "userguid", "userref", "username", "login", "accountid",
        "ownerid", "authorid", "memberid", "customerid", "personid", "profileid", "creatorid",
        "createdby", "updatedby", "deletedby", "ownedby", "senderid", "recipientid", "receiverid",
        "followerid", "assigneeid", "userpk",
    ]

    private static let personal: Set<String> = [
        "email", "emailaddress", "mail", "phone", "phonenumber", "mobile", "mobilenumber",
        "dateofbirth", "birthdate", "birthday", "firstname", "lastname", "givenname", "familyname",
        "surname", "streetaddress", "postaladdress", "iban", "ssn", "passportnumber",
    ]

    /// Personal data of a machine: a name beside it may be that of the machine.
    private static let machines: Set<String> = [
        "ipaddress", "ipaddr", "remoteaddr", "useragent", "pushtoken",
    ]

    /// Names of a person, or of anything.
    static let fullNames: Set<String> = ["name", "fullname", "displayname"]

    /// Roles of persons: a name behind one is of a person, in a table of things, too.
    private static let roles = [
        "accountholder", "applicant", "attendee", "author", "buyer", "cardholder", "commenter",
        "consignee", "contact", "creator", "customer", "donor", "employee", "guest", "invitee",
        "member", "owner", "participant", "passenger", "patient", "payee", "payer", "person",
        "receiver", "recipient", "reviewer", "sender", "signer", "student", "subscriber", "teacher",
        "uploader", "visitor",
    ]

    /// What has a full name or an address, and is no person.
    private static let things: Set<String> = [
        "branch", "brand", "building", "category", "city", "class", "company", "country", "course",
        "device", "domain", "file", "folder", "group", "host", "hotel", "item", "language",
        "location", "network", "node", "office", "organization", "package", "part", "place",
        "product", "project", "repo", "repository", "role", "school", "server", "shop", "store",
        "team", "type", "unit", "venue", "warehouse",
    ]

    /// Lower-case ASCII letters and digits only: `User_ID`, `userId` and `user-id` are one name.
    static func canonical(_ name: String) -> String {
        String(name.lowercased().filter { $0.isASCII && ($0.isLetter || $0.isNumber) })
    }

    /// Whether a table of that name, with or without its schema in front, is one of users.
    static func isTableOfUsers(_ name: String) -> Bool {
        tables.contains(canonical(name.split(separator: ".").last.map(String.init) ?? name))
    }

    /// Whether the last word of a table's name is one for users, as in `auth_user`.
    static func endsInUsers(_ name: String) -> Bool { tables.contains(words(name).last ?? "") }

    /// Whether a ``canonical(_:)`` name of a column is one of a user id.
    static func isUserID(_ name: String) -> Bool {
        userIDs.contains(name) || saysUser(name)
    }

    /// Whether such a name has the word for users before the id.
    static func saysUser(_ name: String) -> Bool {
        name.hasSuffix("userid") || name.hasSuffix("useruuid")
    }

    /// Whether a ``canonical(_:)`` name of a column says whose the row is, with no other word.
    static func isOwner(_ name: String) -> Bool {
        userIDs.contains(name) || name.hasSuffix("owner")
    }

    /// Which of a table's columns are named like personal data.
    ///
    /// A `name` needs other data of a person beside it, and a `full_name` or `address` a table that
    /// is not one of things. A name behind the role of a person needs neither.
    static func personal(of table: TableShape) -> [String] {
        let columns = table.columns.map { (column: $0, name: canonical($0.name)) }
        let isOfPerson = columns.contains {
            names(email: $0.name) || isPersonal($0.name) && !machines.contains($0.name)
        }
        let word = words(table.name).last ?? ""
        let isOfThings = TableNames.singulars(word).contains { things.contains($0) }
        return columns.filter { column, name in
            let isAlone = !isOfThings && ["fullname", "address"].contains(name)
            return isPersonal(name) || isOfPerson && fullNames.contains(name)
                || column.holdsText && (isAlone || isNameInRole(name))
        }
        .map { $0.column.name }
    }

    /// Whether a ``canonical(_:)`` name of a column is one of a person in a role, such as
    /// `recipient_name` or `customer_first_name`.
    private static func isNameInRole(_ name: String) -> Bool {
        guard name.hasSuffix("name") else { return false }
        let owner = name.dropLast("name".count)
        let part = ["first", "last", "full", "display"].first { owner.hasSuffix($0) } ?? ""
        return roles.contains { owner.dropLast(part.count).hasSuffix($0) }
    }

    /// Whether a ``canonical(_:)`` name of a column is one of personal data.
    static func isPersonal(_ name: String) -> Bool {
        personal.contains(name) || machines.contains(name) || name.hasSuffix("email")
    }
}
