import Lifecycle

extension SettingsTable {
    static let target: [Setting] =
        store + postgresql + redisTarget + delegatedTargets + s3Target + cloudStorage
        + firestore + realtimeDatabase + firebaseAuth + table + column + key

    private static let store: [Setting] = [
        Setting(
            .target,
            "name",
            .text(.name),
            .required(example: .text("app-db")),
            "The target's name in requests, receipts, the journal and metrics."
        ),
        Setting(
            .target,
            "kind",
            .choice(TargetFamily.allCases.map(\.rawValue)),
            .required(example: .text(TargetFamily.sqlite.rawValue)),
            """
            The family of the store: "sqlite" is a SQLite database on this machine, "files" is a \
            folder on it in which users' files are found by name, "postgresql" is a database of a \
            PostgreSQL server, 12 or later, "redis" is a Redis server, "command" is a program of \
            your own and "webhook" a service of your own that deal with some other store, \
            "s3" is a bucket of Amazon S3 or of a server that speaks its protocol, \
            "google-cloud-storage" is a bucket of Google Cloud Storage, \
            "firestore" is a database of Firestore, "realtime-database" is a Realtime Database of \
            Firebase, \
            "firebase-auth" are the accounts of Firebase Authentication or Identity Platform, \
            deleted after everything else.
            """
        ).atRestart(),
        Setting(
            .target,
            "backups_kept",
            .duration(.zero ... .days(3650)),
            .optional(example: .duration(.days(30))),
            """
            How long a backup of this store is kept: erased data survives in it until then, and \
            the receipt says so. "0s" says that there are none; without the key the receipt says \
            that it is not known.
            """
        ),
        Setting(
            .target,
            "residual_copies_kept",
            .duration(.zero ... .days(3650)),
            .optional(example: .duration(.days(1))),
            """
            Of a database only: how long its own files hold what was deleted, the write-ahead log \
            of SQLite until a checkpoint and its reuse, dead rows of PostgreSQL until VACUUM and \
            its log until it is recycled, the append-only file of Redis until its rewrite. Give \
            the longest time that this takes with you; without the key the receipt names the \
            residual copies and says that their end is not known.
            """
        ),
        Setting(
            .target,
            "keyed_by",
            .text(.keyReference),
            .optional(example: .text("app-db.customer")),
            """
            Where this store's own ids are found: a target with rows and one of its \
            [[target.key]] sections. Each id found there stands where the user id would, and that \
            target is purged before this one. Without the key the store knows the user by the \
            user id.
            """
        ),
        Setting(
            .target,
            "without_keys",
            .choice(WithoutKeys.allCases.map(\.rawValue)),
            .optional(example: .text(WithoutKeys.park.rawValue)),
            """
            What happens when keyed_by leads to no id of a user, because the application deleted \
            its row first or the user has none: "proceed" completes and the receipt says "not \
            looked for", "park" waits for an operator. Without the key it is "proceed".
            """
        ),
        Setting(
            .target,
            "path",
            .text(.path),
            .required(example: .text("/srv/app/app.db")),
            """
            The database file. The daemon must be allowed to write it and its directory, in the \
            file system and in the unit (ReadWritePaths=).
            """
        ).only("sqlite").atRestart(),
        Setting(
            .target,
            "triggers",
            .choice(TriggerSetting.allCases.map(\.rawValue)),
            .defaultsTo(.text(TriggerSetting.checked.rawValue)),
            """
            Whether the application's own triggers run when its rows change: off, checked (only \
            what SQLite holds to be harmless), or trusted. With trusted, whoever can change the \
            schema of the database decides what runs with the rights of the daemon.
            """
        ).only("sqlite").atRestart(),
        Setting(
            .target,
            "vacuum",
            .choice(VacuumSetting.allCases.map(\.rawValue)),
            .defaultsTo(.text(VacuumSetting.off.rawValue)),
            """
            What happens to the pages that a purge leaves free. Their content is overwritten with \
            zeros in either case (secure_delete); with incremental they are given back to the \
            file system, a few at a time, which needs a database with auto_vacuum = INCREMENTAL.
            """
        ).only("sqlite").atRestart(),
        Setting(
            .target,
            "root",
            .text(.path),
            .required(example: .text("/srv/app/uploads")),
            """
            The folder below which files are removed, and nothing outside of it. It must hold a \
            file .expunged-root whose first line is the target's name: an empty mount point has \
            none. No symbolic link may be on the way to it.
            """
        ).only("files").atRestart(),
        Setting(
            .target,
            "paths",
            .texts(.userPath, 1...64),
            .required(example: .texts(["files/{user_id}", "avatars/{user_id}.png"])),
            """
            Where a user's files are: names, wildcards as in */{user_id}, and the user id, which \
            stands for itself and never beside a wildcard.
            """
        ).only("files").atRestart(),
    ]

    private static let postgresql: [Setting] = [
        Setting(
            .target,
            "conninfo_credential",
            .text(.credential),
            .required(example: .text("app-db-conninfo")),
            """
            The credential with the connection string of libpq, password included, such as \
            host=db.example.com dbname=app user=expunged password=... or a URI. It may not say \
            sslmode, options and the like, which are decided here.
            """
        ).only("postgresql").atRestart(),
        Setting(
            .target,
            "schemas",
            .texts(.identifier, 1...16),
            .defaultsTo(.texts(["public"])),
            """
            Where tables that are named without a schema are looked for, in this order, and what \
            the coverage check looks through. A table elsewhere is named SCHEMA.TABLE.
            """
        ).only("postgresql").atRestart(),
        Setting(
            .target,
            "tls",
            .choice(TLSSetting.allCases.map(\.rawValue)),
            .defaultsTo(.text(TLSSetting.verifyFull.rawValue)),
            """
            How the server proves who it is over TCP: a certificate for the very host, one for \
            whatever host, or not at all (loopback addresses only). A Unix socket needs none.
            """
        ).only("postgresql").atRestart(),
        Setting(
            .target,
            "ca_file",
            .text(.path),
            .optional(example: .text("/etc/expunged/db-ca.pem")),
            "The certificate authorities that vouch for the server, in place of the system's."
        ).only("postgresql").atRestart(),
        Setting(
            .target,
            "statement_timeout",
            .duration(.milliseconds(100) ... .seconds(600)),
            .defaultsTo(.duration(.seconds(5))),
            "How long the server may work on one statement; the purge is tried again later."
        ).only("postgresql").atRestart(),
        Setting(
            .target,
            "lock_timeout",
            .duration(.milliseconds(10) ... .seconds(60)),
            .defaultsTo(.duration(.seconds(1))),
            """
            How long a statement may wait for a lock. Rows that others have locked are passed over \
            and purged later; this is for locks of whole tables.
            """
        ).only("postgresql").atRestart(),
    ]

    private static let table: [Setting] = [
        Setting(
            .table,
            "table",
            .text(.identifier),
            .required(example: .text("posts")),
            "The table. Children are dealt with before parents, else in the order of the file."
        ),
        Setting(
            .table,
            "column",
            .text(.identifier),
            .required(example: .text("author_id")),
            "The column that holds the user id."
        ),
        Setting(
            .table,
            "action",
            .choice(TableConfiguration.Action.Name.allCases.map(\.rawValue)),
            .required(example: .text(TableConfiguration.Action.Name.delete.rawValue)),
            """
            What happens to the user's rows: "delete" removes them, "anonymize" overwrites the \
            columns of set, "keep" leaves them and lists them on the receipt.
            """
        ),
        Setting(
            .table,
            "keep_reason",
            .text(.sentence),
            .optional(example: .text("tax law, 10 years")),
            """
            Why rows stay, for the receipt. Needed for "anonymize" and "keep", refused for "delete".
            """
        ),
        Setting(
            .table,
            "id_type",
            .choice(TableConfiguration.IDType.allCases.map(\.rawValue)),
            .defaultsTo(.text(TableConfiguration.IDType.text.rawValue)),
            """
            How the column stores the user id; uuid is for PostgreSQL only. Checked against the \
            schema and the stored values: in SQLite a text '042' can equal the number 42.
            """
        ),
        Setting(
            .table,
            "created_at_column",
            .text(.identifier),
            .optional(example: .text("created")),
            """
            The column that says when a row was made. With it, rows newer than the request are \
            left alone and counted; without it the receipt says cutoff: none.
            """
        ),
        Setting(
            .table,
            "created_at_unit",
            .choice(CreatedAtUnit.allCases.map(\.rawValue)),
            .optional(example: .text(CreatedAtUnit.unixSeconds.rawValue)),
            """
            What created_at_column holds. Needed with it, refused without it. timestamp stands for \
            PostgreSQL's own types timestamptz, timestamp and date.
            """
        ),
    ]

    private static let column: [Setting] = [
        Setting(
            .column,
            "strategy",
            .choice(ColumnChange.Strategy.allCases.map(\.rawValue)),
            .required(example: .text(ColumnChange.Strategy.null.rawValue)),
            """
            What replaces the value: NULL, a constant, a keyed hash (equal values stay equal), a \
            random text, or the first characters of the value.
            """
        ),
        Setting(
            .column,
            "value",
            .constant,
            .optional(example: .text("deleted user")),
            "The text or whole number that \"constant\" writes. Needed for it, refused otherwise."
        ),
        Setting(
            .column,
            "length",
            .count(0...1024, unit: "characters"),
            .optional(example: .count(3)),
            "How many characters \"truncate\" leaves, with \"*\" behind them. Needed for it."
        ),
    ]
}
