extension HTTPPreset {
    /// Contacts and mail activity, by the address.
    ///
    /// The vendor keeps addresses in lower case and deletes some time after its answer. The
    /// verification asks by another search, which ignores the case. Its 404 for an unknown address
    /// has nothing of its own, so the count of contacts proves that the API is there.
    static let sendGrid = HTTPPreset(
        "sendgrid",
        pages: [
            "www.twilio.com/docs/sendgrid/api-reference/contacts/search-contacts",
            "www.twilio.com/docs/sendgrid/api-reference/contacts/delete-contacts",
            "www.twilio.com/docs/sendgrid/api-reference/contacts/get-contacts-by-emails",
            "www.twilio.com/docs/sendgrid/api-reference/contacts/get-total-contact-count",
            "www.twilio.com/docs/sendgrid/api-reference/recipients-data-erasure-api/"
                + "erase-recipients-email-data",
        ],
        read: "2026-11-23",
        #"""
        base_url = "https://api.sendgrid.com"
        key_credential = "sendgrid-key"
        check_id = "nobody@example.invalid"
        [target.auth]
        scheme = "bearer"
        [[target.erase]]
        name = "found"
        method = "POST"
        path = "/v3/marketing/contacts/search"
        json = { query = "email = lower('{user_id}')" }
        effect = "reads"
        items = "/result"
        id = "/id"
        [[target.erase]]
        name = "contact"
        method = "DELETE"
        path = "/v3/marketing/contacts"
        query = { ids = "{id}" }
        for_each = "found"
        status = [202]
        [[target.erase]]
        name = "activity"
        method = "POST"
        path = "/v3/recipients/erasejob"
        json = { email_addresses = ["{user_id}"] }
        effect = "repeatable"
        keeps = "mail activity of the address at SendGrid, until its erasure job has run"
        [[target.verify]]
        name = "contacts"
        method = "GET"
        path = "/v3/marketing/contacts/count"
        effect = "proves"
        [[target.verify]]
        name = "contact"
        method = "POST"
        path = "/v3/marketing/contacts/search/emails"
        json = { emails = ["{user_id}"] }
        status = [200]
        gone = [404]
        """#
    )
}
