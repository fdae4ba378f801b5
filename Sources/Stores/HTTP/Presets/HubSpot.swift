extension HTTPPreset {
    /// Contacts, by their ids.
    ///
    /// By an address the vendor would put one that it does not know on a list of blocked addresses.
    /// A batch of one says what is there with a success; a 404 is then a wrong address.
    static let hubSpot = HTTPPreset(
        "hubspot",
        pages: [
            "developers.hubspot.com/docs/api-reference/legacy/crm/objects/contacts/gdpr/"
                + "gdpr-delete-contact",
            "developers.hubspot.com/docs/api/crm/contacts",
            "developers.hubspot.com/docs/api-reference/latest/crm/objects/objects/batch/"
                + "get-objects",
            "developers.hubspot.com/changelog/"
                + "changes-to-the-gdpr-deletion-endpoints-for-the-crm-contact-object-api",
        ],
        read: "2026-11-23",
        #"""
        base_url = "https://api.hubapi.com"
        key_credential = "hubspot-token"
        check_id = "999999999999"
        [target.auth]
        scheme = "bearer"
        [[target.erase]]
        name = "contacts"
        method = "POST"
        path = "/crm/v3/objects/contacts/batch/read"
        json = { inputs = [{ id = "{user_id}" }], properties = ["hs_object_id"] }
        effect = "reads"
        status = [200, 207]
        items = "/results"
        id = "/id"
        [[target.erase]]
        name = "contact"
        method = "POST"
        path = "/crm/v3/objects/contacts/gdpr-delete"
        json = { objectId = "{id}" }
        effect = "repeatable"
        for_each = "contacts"
        [[target.verify]]
        name = "contact"
        method = "POST"
        path = "/crm/v3/objects/contacts/batch/read"
        json = { inputs = [{ id = "{user_id}" }], properties = ["hs_object_id"] }
        status = [200, 207]
        items = "/results"
        id = "/id"
        """#
    )
}
