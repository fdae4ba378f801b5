import Lifecycle

extension SettingsTable {
    package static let general: [Setting] =
        requests + samples + vaultKeys + lostKeys + server + journal + controller + recipient

    private static let requests = Setting.keys(
        .requests,
        (
            "grace_period", .duration(.zero ... .days(90)), .defaultsTo(.duration(.zero)),
            """
            How long a new account deletion waits, and can be cancelled, before it begins. A \
            request may ask for longer.
            """
        ),
        (
            "deadline", .duration(.seconds(3600) ... .days(365)), .defaultsTo(.duration(.days(30))),
            """
            Statutory deadline: an open request raises an alarm 7 days before, and when it has \
            passed.
            """
        ),
        (
            "max_deletions_per_hour", .count(1...1_000_000_000, unit: "deletions per hour"),
            .defaultsTo(.count(1000)),
            """
            Guard: further deletions wait for an operator (docs/guides/pauses.md). \
            One uid, or spool and queues, has 3/4 of what others leave, rounded up.
            """
        ),
        (
            "approval", .choice(ApprovalPolicy.allCases.map(\.rawValue)),
            .defaultsTo(.text(ApprovalPolicy.none.rawValue)),
            """
            With "required", an operator with another login than the submitter must first approve \
            the plan of a deletion (docs/guides/approval.md).
            """
        ),
        (
            "without_identities", .choice(WithoutIdentities.allCases.map(\.rawValue)),
            .defaultsTo(.text(WithoutIdentities.proceed.rawValue)),
            """
            For a deletion whose user has no known identity: complete it, or wait for an operator.
            """
        ),
        (
            "require_fresh_sign_in", .duration(.seconds(60) ... .days(30)),
            .optional(example: .duration(.seconds(900))),
            """
            Accept a deletion only if the user signed in at most this long ago \
            (docs/guides/fresh-sign-in.md).
            """
        ),
        (
            "rechecks", .texts(.duration, 0...8), .defaultsTo(.texts(["24h", "7d"])),
            """
            When to count the data of a completed deletion again, shortest first. An empty list \
            turns rechecks off.
            """
        )
    )

    private static let samples = Setting.keys(
        .requests,
        (
            "sample_interval", .duration(.zero ... .days(365)), .defaultsTo(.duration(.days(7))),
            """
            How often to search the stores for a sample of all erased users; 0s turns it off \
            (docs/guides/rechecks.md).
            """
        )
    ).map { $0.atRestart() }

    private static let vaultKeys = Setting.keys(
        .vault,
        (
            "key_credential", .text(.credential), .defaultsTo(.text("vault-key")),
            "The vault key: 32 random bytes in base64. Without it the service runs sealed."
        ),
        (
            "retired_key_credentials", .texts(.credential, 0...16), .defaultsTo(.texts([])),
            "Former vault keys, newest first."
        )
    ).map { $0.secret().atRestart() }

    private static let lostKeys = Setting.keys(
        .vault,
        (
            "lost_key_ids", .texts(.vaultKeyID, 0...16), .defaultsTo(.texts([])),
            "Ids of vault keys that are lost for good, with what they sealed."
        )
    ).map { $0.atRestart() }

    private static let server = Setting.keys(
        .server,
        (
            "connections_max", .count(2...4096, unit: "connections per socket"),
            .defaultsTo(.count(512)),
            """
            Connections per control socket, fewer where the limit of open files is low. One uid \
            gets a quarter of them, the last eighth is for root.
            """
        ),
        (
            "operator_group", .text(.group), .optional(example: .text("expunged-operator")),
            """
            Group that may use control.sock where the service makes the sockets, as in a \
            container; without it, only the service's user may.
            """
        ),
        (
            "submit_group", .text(.group), .optional(example: .text("expunged-submit")),
            "The same for submit.sock."
        ),
        (
            "viewer_group", .text(.group), .optional(example: .text("expunged-viewer")),
            "The same for viewer.sock."
        )
    ).map { $0.atRestart() }

    private static let journal = Setting.keys(
        .journal,
        (
            "level", .choice(JournalLevel.allCases.map(\.rawValue)),
            .defaultsTo(.text(JournalLevel.info.rawValue)),
            "The least severe messages to write; see syslog(3)."
        )
    )

    private static let controller = Setting.keys(
        .controller,
        (
            "name", .text(.sentence), .optional(example: .text("Example Apps GmbH, Berlin")),
            "Name of the company or person."
        ),
        (
            "contact", .text(.sentence), .optional(example: .text("privacy@example.com")),
            "Where users can ask about their data."
        )
    )

    private static let recipient = Setting.keys(
        .recipient,
        (
            "name", .text(.sentence), .required(example: .text("Example Analytics Inc.")),
            "Company or person that has received user data."
        ),
        (
            "contact", .text(.sentence), .optional(example: .text("privacy@analytics.example")),
            "Where to notify it of an erasure."
        ),
        (
            "purpose", .text(.sentence), .optional(example: .text("usage statistics")),
            "What it has the data for."
        )
    )
}

extension SettingsTable {
    package static let mail = Setting.keys(
        .mail,
        (
            "from", .text(.mailAddress), .optional(example: .text("privacy@example.com")),
            "Sender of all mail, also for answers and bounces. Without it nothing is mailed."
        ),
        ("to", .texts(.mailAddress, 0...8), .defaultsTo(.texts([])), "Recipients of alarms."),
        (
            "server", .text(.loopback), .defaultsTo(.text("localhost:25")),
            "The local mail server, by SMTP."
        ),
        (
            "sendmail", .text(.path), .optional(example: .text("/usr/sbin/sendmail")),
            "A sendmail(8) to run with -t -i instead (docs/guides/messages.md)."
        ),
        (
            "retry_for", .duration(.seconds(3600) ... .days(30)), .defaultsTo(.duration(.days(3))),
            "How long to try a message."
        )
    )

    package static let subscriber: [Setting] =
        subscriberPlace + [.messageKey(.subscriber, example: "app-messages")] + subscriberEvents
        + [
            .caFile(.subscriber, example: "/etc/expunged/app-ca.pem"),
            .privateAddresses(.subscriber),
        ] + subscriberTimes

    private static let subscriberPlace = Setting.keys(
        .subscriber,
        (
            "name", .text(.name), .required(example: .text("app")),
            "Name of the subscriber; mail is taken."
        ),
        (
            "url", .text(.url), .required(example: .text("https://app.example.com/expunged")),
            "Address of the service."
        )
    )

    private static let subscriberEvents = Setting.keys(
        .subscriber,
        (
            "events", .texts(.messageTopic, 1...2), .defaultsTo(.texts(["requests", "alarms"])),
            "Changes of requests, and journal entries from warning up."
        )
    )

    private static let subscriberTimes = Setting.keys(
        .subscriber,
        (
            "timeout", .duration(.seconds(1) ... .seconds(60)),
            .defaultsTo(.duration(.seconds(10))), "Time for one call."
        ),
        (
            "retry_for", .duration(.seconds(3600) ... .days(30)), .defaultsTo(.duration(.days(3))),
            "How long to try to deliver a message."
        )
    )
}
