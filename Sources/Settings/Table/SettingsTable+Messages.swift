import Lifecycle

extension SettingsTable {
    package static let mail: [Setting] = [
        Setting(
            .mail,
            "from",
            .text(.mailAddress),
            .optional(example: .text("privacy@example.com")),
            "Sender of all mail, also for answers and bounces. Without it nothing is mailed."
        ),
        Setting(
            .mail,
            "to",
            .texts(.mailAddress, 0...8),
            .defaultsTo(.texts([])),
            "Recipients of alarms."
        ),
        Setting(
            .mail,
            "server",
            .text(.loopback),
            .defaultsTo(.text("localhost:25")),
            "The local mail server, by SMTP."
        ),
        Setting(
            .mail,
            "sendmail",
            .text(.path),
            .optional(example: .text("/usr/sbin/sendmail")),
            "A sendmail(8) to run with -t -i instead (docs/guides/messages.md)."
        ),
        Setting(
            .mail,
            "retry_for",
            .duration(.seconds(3600) ... .days(30)),
            .defaultsTo(.duration(.days(3))),
            "How long to try a message."
        ),
    ]

    package static let subscriber: [Setting] = [
        Setting(
            .subscriber,
            "name",
            .text(.name),
            .required(example: .text("app")),
            "Name of the subscriber; mail is taken."
        ),
        Setting(
            .subscriber,
            "url",
            .text(.url),
            .required(example: .text("https://app.example.com/expunged")),
            "Address of the service."
        ),
        .messageKey(.subscriber, example: "app-messages"),
        Setting(
            .subscriber,
            "events",
            .texts(.messageTopic, 1...2),
            .defaultsTo(.texts(["requests", "alarms"])),
            "Changes of requests, and journal entries from warning up."
        ),
        .caFile(.subscriber, example: "/etc/expunged/app-ca.pem"),
        .privateAddresses(.subscriber),
        Setting(
            .subscriber,
            "timeout",
            .duration(.seconds(1) ... .seconds(60)),
            .defaultsTo(.duration(.seconds(10))),
            "Time for one call."
        ),
        Setting(
            .subscriber,
            "retry_for",
            .duration(.seconds(3600) ... .days(30)),
            .defaultsTo(.duration(.days(3))),
            "How long to try to deliver a message."
        ),
    ]
}
