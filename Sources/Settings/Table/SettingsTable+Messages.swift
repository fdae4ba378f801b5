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
            "Who gets alarms."
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
            """
            A sendmail(8) to run with -t -i instead. Under the service's unit only one without \
            set-group-id works, such as msmtp.
            """
        ),
        Setting(
            .mail,
            "retry_for",
            .duration(.seconds(3600) ... .days(30)),
            .defaultsTo(.duration(.days(3))),
            "How long to try; then the message, and with it the user's address, is given up."
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
            "Address that receives POST requests."
        ),
        Setting(
            .subscriber,
            "secret_credential",
            .text(.credential),
            .required(example: .text("app-messages")),
            """
            Credential with the key that signs each message (Standard Webhooks): 24 to 64 random \
            bytes in base64, with or without whsec_.
            """
        ),
        Setting(
            .subscriber,
            "events",
            .texts(.messageTopic, 1...2),
            .defaultsTo(.texts(["requests", "alarms"])),
            "What it gets: changes of requests, and journal entries from warning up."
        ),
        Setting(
            .subscriber,
            "ca_file",
            .text(.path),
            .optional(example: .text("/etc/expunged/app-ca.pem")),
            "PEM file with the certificate authorities to trust instead of the system's."
        ),
        Setting(
            .subscriber,
            "allow_private_addresses",
            .boolean,
            .defaultsTo(.boolean(false)),
            "Allow a private, link-local or loopback address."
        ),
        Setting(
            .subscriber,
            "timeout",
            .duration(.seconds(1) ... .seconds(60)),
            .defaultsTo(.duration(.seconds(10))),
            "Time for one call, including the connection."
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
