import Testing

@testable import Stores

@Suite("Names of columns show personal data") struct PersonalNamesTests {
    private static let cases: [(table: String, columns: [String], personal: [String])] = [
        ("packages", ["recipient_name", "weight"], ["recipient_name"]),
        ("packages", ["recipientName", "packageName"], ["recipientName"]),
        ("orders", ["customer_name", "product_name"], ["customer_name"]),
        ("shared_files", ["uploader_name", "file_name"], ["uploader_name"]),
        ("app.items", ["ownername", "itemname"], ["ownername"]),
        ("devices", ["owner_full_name", "host_name"], ["owner_full_name"]),
        ("hotels", ["guest_first_name", "room_name"], ["guest_first_name"]),
        ("hotels", ["guest_lastname"], ["guest_lastname"]),
        ("companies", ["billing_contact_name", "company_name"], ["billing_contact_name"]),
        ("files", ["author_display_name", "display_name"], ["author_display_name"]),
        ("products", ["name", "product_name", "full_name", "brand_name"], []),
        ("files", ["file_name", "filename", "folder_name"], []),
        ("servers", ["host_name", "hostname", "domain_name", "address"], []),
        ("packages", ["package_name", "display_name", "owner_type", "recipient_count"], []),
        ("letters", ["name", "subject", "nickname"], []),
        ("letters", ["full_name", "address"], ["full_name", "address"]),
        ("letters", ["name", "email"], ["name", "email"]),
        ("logins", ["name", "ip_address"], ["ip_address"]),
    ]

    @Test("a name behind the role of a person is one, in a table of things, too", arguments: cases)
    func personal(table: String, columns: [String], personal: [String]) {
        #expect(PersonalNames.personal(of: TableShape(table, columns: columns)) == personal)
    }
}
