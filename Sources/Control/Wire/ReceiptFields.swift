import Lifecycle

/// The members of a receipt, for the document of the API.
///
/// The daemon makes a receipt as a JSON value, since the ledger has a digest of its text; here is
/// what its members are called, and what they say.
package enum ReceiptFields {
    package static let fields: [WireField] = [
        .required("request_id", .uuid, "The request."),
        .required("summary", .text, "All of it in a few sentences."),
        .optional("controller", .object("Controller"), "Who is responsible for the data."),
        .optional("recipients", .list(.object("Recipient")), "Whom to inform (GDPR article 19)."),
        .required("kind", .choice(of: RequestKind.self), "The kind of request."),
        .required("state", .text, "Always `completed`."),
        .required("created_at", .time, "When the request was made."),
        .required("accepted_at", .time, "When it was accepted, durably."),
        .optional("purge_started_at", .time, "From when on it could not be cancelled."),
        .optional("completed_at", .time, "When it was completed."),
        .optional("approval", .object("ReceiptApproval"), "The plan, and who approved it."),
        .optional(
            "unread_sources",
            .list(.text),
            "The spool or queues that were not read between acceptance and completion."
        ),
        .required("identities", .list(.object("ReceiptIdentity")), "The links to providers."),
        .required(
            "stores",
            .atMost(ControlLimits.storesMax, .object("ReceiptStore")),
            "The stores."
        ),
        .required("not_erased", .list(.object("ReceiptNotErased")), "What stays, and why."),
        .optional("erasure_horizon", .time, "After that no copy is left anywhere."),
        .optional(
            "erasure_horizon_unknown",
            .list(.text),
            "Stores without a known end of their last copy."
        ),
        .optional("not_in_scope", .list(.text), "What the receipt does not speak of."),
        .optional("scrubbed_at", .time, "When the service's own files were free of the user."),
        .optional("forgotten", .list(.object("Forgotten")), "Identities that were forgotten."),
        .optional("abandoned", .object("ReceiptNote"), "Who decided not to wait, and why."),
        .optional("addenda", .list(.object("Addendum")), "What became known later."),
        .optional("rechecks", .list(.object("ReceiptRecheck")), "Checks of the stores after it."),
        .optional("next_recheck_at", .time, "When the next recheck is due."),
        .optional("data_returned_at", .time, "When data was first found there again."),
        .optional("rechecks_abandoned", .object("ReceiptNote"), "Who ended the rechecks, and why."),
        .optional("ledger", .object("ReceiptLedger"), "What proves it; absent until signed."),
    ]

    /// The receipt, and the objects inside it.
    static let parts: [String: [WireField]] = [
        "Receipt": fields,
        "ReceiptApproval": [
            .required("plan", .text, "The hash of the plan."),
            .required("at", .time, "When it was approved."),
            .required("uid", .integer, "The operator's login uid."),
            .optional("first_at", .time, "When the first of two operators approved it."),
            .optional("first_uid", .integer, "The login uid of the first of two."),
        ],
        "ReceiptIdentity": [
            .required("identity_id", .uuid, "Names the identity."),
            .required("provider", .text, "The provider's configured name."),
            .required("client_id", .text, "The client id of its credentials."),
            .optional("verdict", .choice(of: Verdict.self), "How its revocation ended."),
            .optional("revoked", .boolean, "Whether the link is cut."),
            .optional("evidence", .text, "What happened, and who said so."),
            .optional("not_held", .object("Unheld"), "What the provider may still honor."),
            .optional("decided_at", .time, "When the verdict was final."),
            .optional("user_action", .object("UserAction"), "What the user can do by hand."),
        ],
        "ReceiptStore": [
            .required("store", .text, "The store's configured name."),
            .required("verified", .boolean, "Whether it was counted again after the purge."),
            .optional("verified_at", .time, "When it was counted again."),
            .optional(
                "accepted_until",
                .time,
                "Until when the vendor has promised to erase; never verified."
            ),
            .optional("not_looked_for", .text, "Why it, or a part of it, was not searched."),
            .optional("searchable", .boolean, "False where unmapped data cannot be found."),
            .optional("searched_on", .text, "Last search since rules of any store changed."),
            .optional("unmapped", .list(.text), "What no rule reaches: not looked for."),
            .optional("unmapped_more", .integer, "How many more are not named here."),
            .optional("unexamined", .list(.text), "What that search did not read, or in part."),
            .optional("unexamined_more", .integer, "How many more are not named here."),
            .optional("counts", .text, "`at_least` where a purge was cut off."),
            .required("tables", .list(.object("ReceiptTable")), "What was done in each table."),
            .optional("backups_kept_until", .time, "When its last backup ends."),
            .optional(
                "residual_copies",
                .list(.object("ReceiptCopy")),
                "Copies that it keeps itself."
            ),
            .optional("erasure_horizon", .time, "After that no copy of it is left."),
        ],
        "ReceiptTable": [
            .required("table", .text, "Its name."),
            .required("action", .choice(of: PurgeCounts.Action.Code.self), "What was done there."),
            .optional("detail", .text, "What the action is about, such as a reason."),
            .required("rows", .integer, "Rows, files or objects with which it was done."),
            .required("newer_rows", .integer, "Those that are newer, and were left."),
            .required("cutoff", .text, "What is newer than this was left; or `none`."),
        ],
        "ReceiptCopy": [
            .required("what", .text, "What keeps it."),
            .optional("phrase", .text, "Id of that sentence, if it is one of the service."),
            .optional("name", .text, "What fills it, such as a bucket."),
            .optional("until", .time, "Until when; absent if unknown."),
        ],
        "ReceiptNotErased": [
            .required("store", .text, "The store's configured name."),
            .required("table", .text, "The table, folder, prefix or key."),
            .optional("columns", .list(.text), "Those that lead to the user still."),
            .required("rows", .integer, "How many stay."),
            .required("reason", .text, "Why."),
            .required("phrase", .text, "Id of that sentence, or `keep` or `anonymize` of a rule."),
            .optional("name", .text, "The reason that a rule names."),
        ],
        "ReceiptNote": [
            .required("uid", .integer, "The operator's uid."),
            .required("reason", .text, "The reason that the operator gave."),
        ],
        "ReceiptRecheck": [
            .required("at", .time, "When."),
            .required("outcome", .text, "The result."),
            .required("found", .list(.object("ReceiptFound")), "The stores with data."),
            .required("not_configured", .list(.text), "Stores that are not configured any more."),
        ],
        "ReceiptFound": [
            .required("store", .text, "The store's configured name."),
            .required("rows", .integer, "How much was found."),
        ],
        "ReceiptLedger": [
            .required("key", .text, "The verifier key."),
            .required("checkpoint", .text, "The signed note over size and root."),
            .required("entries", .list(.object("ReceiptEntry")), "The request's entries."),
        ],
        "ReceiptEntry": [
            .required("index", .integer, "Its place in the ledger."),
            .required("entry", .text, "The entry itself."),
            .required("proof", .list(.text), "Hashes up to the root, in base64."),
        ],
    ]
}
