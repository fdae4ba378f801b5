import Lifecycle

extension SettingsTable {
    package static let general: [Setting] = [
        Setting(
            .requests,
            "grace_period",
            .duration(.zero ... .days(90)),
            .defaultsTo(.duration(.zero)),
            """
            How long a new account deletion waits before it begins; until then it can be \
            cancelled. A request may ask for longer, not for shorter.
            """
        ),
        Setting(
            .requests,
            "deadline",
            .duration(.seconds(3600) ... .days(365)),
            .defaultsTo(.duration(.days(30))),
            """
            Statutory deadline. An open request raises an alarm 7 days before and when it has \
            passed. The service never drops it.
            """
        ),
        Setting(
            .requests,
            "max_deletions_per_hour",
            .count(1...1_000_000_000, unit: "deletions per hour"),
            .defaultsTo(.count(1000)),
            """
            Mass-deletion guard: deletions beyond this number wait before their purge until an \
            operator releases them.
            """
        ),
        Setting(
            .requests,
            "approval",
            .choice(ApprovalPolicy.allCases.map(\.rawValue)),
            .defaultsTo(.text(ApprovalPolicy.none.rawValue)),
            """
            With "required", an operator with another login than the submitter must approve the \
            plan of a deletion before anything is revoked or purged. A request of unknown \
            submitter needs two. Install the drop-in expunged-approval.conf \
            (docs/guides/approval.md).
            """
        ),
        Setting(
            .requests,
            "without_identities",
            .choice(WithoutIdentities.allCases.map(\.rawValue)),
            .defaultsTo(.text(WithoutIdentities.proceed.rawValue)),
            """
            For a deletion whose user has no known identity: "proceed" completes it and the \
            receipt says so, "park" waits for an operator.
            """
        ),
        Setting(
            .requests,
            "require_fresh_sign_in",
            .duration(.seconds(60) ... .days(30)),
            .optional(example: .duration(.seconds(900))),
            """
            Accept a deletion only if the user signed in at most this long ago \
            (docs/guides/fresh-sign-in.md). Operators and provider notifications need no sign-in.
            """
        ),
        Setting(
            .requests,
            "rechecks",
            .texts(.duration, 0...8),
            .defaultsTo(.texts(["24h", "7d"])),
            """
            When to count the data of a completed deletion again, shortest first. Data that is \
            back raises an alarm and restarts the schedule. An empty list turns rechecks off.
            """
        ),
        Setting(
            .requests,
            "sample_interval",
            .duration(.zero ... .days(365)),
            .defaultsTo(.duration(.days(7))),
            """
            How often to search the stores for a sample of all erased users. This reads every user \
            id of a store, which cloud providers bill. 0s turns it off.
            """
        ).atRestart(),
        Setting(
            .vault,
            "key_credential",
            .text(.credential),
            .defaultsTo(.text("vault-key")),
            """
            Credential with the vault key: 32 random bytes in base64. Without it the service runs \
            in sealed mode and only accepts requests.
            """
        ).secret().atRestart(),
        Setting(
            .vault,
            "retired_key_credentials",
            .texts(.credential, 0...16),
            .defaultsTo(.texts([])),
            """
            Credentials with former vault keys, newest first. Remove one when nothing is sealed \
            under it.
            """
        ).secret().atRestart(),
        Setting(
            .vault,
            "lost_key_ids",
            .texts(.vaultKeyID, 0...16),
            .defaultsTo(.texts([])),
            """
            Ids of vault keys that are lost for good, with what they sealed. The service does not \
            start while anything is sealed under another missing key.
            """
        ).atRestart(),
        Setting(
            .server,
            "connections_max",
            .count(2...4096, unit: "connections per socket"),
            .defaultsTo(.count(512)),
            """
            Connections per control socket. One uid gets a quarter of them, the last eighth is for \
            root.
            """
        ).atRestart(),
        Setting(
            .server,
            "operator_group",
            .text(.group),
            .optional(example: .text("expunged-operator")),
            """
            Group, by name or number, that may use control.sock where the service makes the \
            sockets itself, as in a container. Without it only the service's user may.
            """
        ).atRestart(),
        Setting(
            .server,
            "submit_group",
            .text(.group),
            .optional(example: .text("expunged-submit")),
            "The same for submit.sock."
        ).atRestart(),
        Setting(
            .server,
            "viewer_group",
            .text(.group),
            .optional(example: .text("expunged-viewer")),
            "The same for viewer.sock."
        ).atRestart(),
        Setting(
            .journal,
            "level",
            .choice(JournalLevel.allCases.map(\.rawValue)),
            .defaultsTo(.text(JournalLevel.info.rawValue)),
            "The least severe messages to write; see syslog(3)."
        ),
        Setting(
            .controller,
            "name",
            .text(.sentence),
            .optional(example: .text("Example Apps GmbH, Berlin")),
            "Name of the company or person, as receipts show it."
        ),
        Setting(
            .controller,
            "contact",
            .text(.sentence),
            .optional(example: .text("privacy@example.com")),
            "Where users can ask about their data; receipts show it."
        ),
        Setting(
            .recipient,
            "name",
            .text(.sentence),
            .required(example: .text("Example Analytics Inc.")),
            "Company or person that has received user data."
        ),
        Setting(
            .recipient,
            "contact",
            .text(.sentence),
            .optional(example: .text("privacy@analytics.example")),
            "Where to notify it of an erasure."
        ),
        Setting(
            .recipient,
            "purpose",
            .text(.sentence),
            .optional(example: .text("usage statistics")),
            "What it has the data for."
        ),
    ]
}
