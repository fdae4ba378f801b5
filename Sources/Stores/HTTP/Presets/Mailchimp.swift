extension HTTPPreset {
    /// Members of one audience, by their addresses.
    ///
    /// Only the permanent deletion erases; the other one archives. It takes the id that the first
    /// step finds, also of an archived member. An unknown list answers as an unknown member does,
    /// so the list is asked for before.
    static let mailchimp = HTTPPreset(
        "mailchimp",
        pages: [
            "mailchimp.com/developer/marketing/api/list-members/get-member-info",
            "mailchimp.com/developer/marketing/api/list-members/delete-list-member",
            "mailchimp.com/developer/marketing/api/lists/get-list-info",
        ],
        read: "2026-11-23",
        #"""
        key_credential = "mailchimp-key"
        check_id = "nobody@example.invalid"
        [target.auth]
        scheme = "basic"
        username = "expunged"
        [[target.erase]]
        name = "list"
        method = "GET"
        path = "/3.0/lists/{list_id}"
        query = { fields = "id" }
        effect = "proves"
        [[target.erase]]
        name = "member"
        method = "GET"
        path = "/3.0/lists/{list_id}/members/{user_id}"
        id = "/id"
        gone = [404]
        gone_if = { "/title" = "Resource Not Found" }
        [[target.erase]]
        name = "deletion"
        method = "POST"
        path = "/3.0/lists/{list_id}/members/{id}/actions/delete-permanent"
        for_each = "member"
        effect = "repeatable"
        gone = [404]
        gone_if = { "/title" = "Resource Not Found" }
        [[target.verify]]
        name = "list"
        method = "GET"
        path = "/3.0/lists/{list_id}"
        query = { fields = "id" }
        effect = "proves"
        [[target.verify]]
        name = "member"
        method = "GET"
        path = "/3.0/lists/{list_id}/members/{user_id}"
        gone = [404]
        gone_if = { "/title" = "Resource Not Found" }
        """#
    )
}
