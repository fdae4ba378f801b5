extension SettingsTable {
    static let redisTarget: [Setting] = [
        Setting(
            .target,
            "socket",
            .text(.path),
            .optional(example: .text("/run/redis/redis-server.sock")),
            "The Unix socket of the Redis server; this or address."
        ).only("redis").atRestart(),
        Setting(
            .target,
            "address",
            .text(.host),
            .optional(example: .text("redis.example.com:6379")),
            """
            Host and port of the Redis server, 6379 unless given; this or socket. Over TLS, with a \
            certificate for the very host.
            """
        ).only("redis").atRestart(),
        Setting(
            .target,
            "allow_plain_tcp",
            .boolean,
            .defaultsTo(.boolean(false)),
            "Does without TLS, for a loopback address only."
        ).only("redis").atRestart(),
        Setting(
            .target,
            "ca_file",
            .text(.path),
            .optional(example: .text("/etc/expunged/redis-ca.pem")),
            "The certificate authorities that vouch for the server, in place of the system's."
        ).only("redis").atRestart(),
        Setting(
            .target,
            "username",
            .text(.clientID),
            .optional(example: .text("expunged")),
            "The user of the server's access control list; its default user unless given."
        ).only("redis").atRestart(),
        Setting(
            .target,
            "password_credential",
            .text(.credential),
            .optional(example: .text("redis-password")),
            "The credential with the password of that user; one line."
        ).only("redis").atRestart(),
        Setting(
            .target,
            "database",
            .count(0...65_535, unit: "as the number of a database"),
            .defaultsTo(.count(0)),
            "The database that the keys are in."
        ).only("redis").atRestart(),
        Setting(
            .target,
            "keys",
            .texts(.userKey, 0...64),
            .defaultsTo(.texts([])),
            """
            Keys that belong to a user: the user id, fixed text and *, such as \
            session:{user_id}:*. A separator must part the user id from a wildcard, and users \
            whose id holds that separator are left for an operator. Keys without a wildcard cost \
            one command, each key with one a pass over the whole server.
            """
        ).only("redis").atRestart(),
        Setting(
            .target,
            "members",
            .map(.sentence, .userKey, 0...64),
            .defaultsTo(.map([:])),
            """
            Members of hashes, sets and sorted sets that belong to a user, by the key that holds \
            them, which may have *: members = { "online" = "{user_id}" }.
            """
        ).only("redis").atRestart(),
        Setting(
            .target,
            "timeout",
            .duration(.milliseconds(100) ... .seconds(300)),
            .defaultsTo(.duration(.seconds(10))),
            "How long the server may take for one batch of commands."
        ).only("redis").atRestart(),
    ]

    static let delegatedTargets: [Setting] = [
        Setting(
            .target,
            "program",
            .text(.path),
            .required(example: .text("/usr/local/lib/expunged/purge-crm")),
            """
            The program that deals with the store: one JSON question on standard input, one JSON \
            answer on standard output, for each user anew.
            """
        ).only("command").atRestart(),
        Setting(
            .target,
            "arguments",
            .texts(.sentence, 0...16),
            .defaultsTo(.texts([])),
            """
            Arguments of the program, the same for every call. Other processes can read them: no \
            secrets.
            """
        ).only("command").atRestart(),
        Setting(
            .target,
            "timeout",
            .duration(.seconds(1) ... .seconds(3600)),
            .defaultsTo(.duration(.seconds(60))),
            "How long one run may take; it is ended with all that it started."
        ).only("command").atRestart(),
        Setting(
            .target,
            "memory_max_mib",
            .count(16...65_536, unit: "MiB"),
            .defaultsTo(.count(256)),
            """
            The most private memory of the program and of each process that it starts \
            (RLIMIT_DATA). All of them count to the memory of the service, too.
            """
        ).only("command").atRestart(),
        Setting(
            .target,
            "url",
            .text(.url),
            .required(example: .text("https://crm.example.com/erasure")),
            """
            Where the service that deals with the store takes its POST requests. Redirects are \
            not followed.
            """
        ).only("webhook").atRestart(),
        Setting(
            .target,
            "secret_credential",
            .text(.credential),
            .required(example: .text("crm-webhook-secret")),
            """
            The credential with the key that signs each message (Standard Webhooks): 24 to 64 \
            random bytes in base64, with or without whsec_ before it.
            """
        ).only("webhook").atRestart(),
        Setting(
            .target,
            "ca_file",
            .text(.path),
            .optional(example: .text("/etc/expunged/crm-ca.pem")),
            "The certificate authorities that vouch for the service, in place of the system's."
        ).only("webhook").atRestart(),
        Setting(
            .target,
            "allow_private_addresses",
            .boolean,
            .defaultsTo(.boolean(false)),
            """
            Whether the service may have a private, link-local or loopback address, whatever its \
            name says.
            """
        ).only("webhook").atRestart(),
        Setting(
            .target,
            "timeout",
            .duration(.seconds(1) ... .seconds(300)),
            .defaultsTo(.duration(.seconds(30))),
            "How long one call may take, the connection included."
        ).only("webhook").atRestart(),
    ]
}
