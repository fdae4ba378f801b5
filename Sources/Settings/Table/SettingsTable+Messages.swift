import Lifecycle

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
