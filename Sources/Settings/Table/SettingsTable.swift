import Lifecycle

/// The table of settings: the single source of every key that a configuration may have.
///
/// In the order of the example file and the man page. A key that is in no row stops the start.
package enum SettingsTable {
    /// Every setting there is.
    package static let all: [Setting] = general + provider + directory + target

    /// Returns the settings of one kind of section, in documentation order.
    package static func settings(in scope: SettingScope) -> [Setting] {
        all.filter { $0.scope == scope }
    }

    /// Returns the settings that a section can have: those of its kind and those of every kind.
    static func settings(of section: SettingsSection) -> [Setting] {
        let kind = section.text("kind")
        return settings(in: section.scope).filter { $0.family == nil || $0.family == kind }
    }

    private static let general: [Setting] = [
        Setting(
            .requests,
            "grace_period",
            .duration(.zero ... .days(90)),
            .defaultsTo(.duration(.zero)),
            """
            How long a new account deletion waits before anything happens; it can be cancelled \
            until then. A request may ask for more, never for less.
            """
        ),
        Setting(
            .requests,
            "deadline",
            .duration(.seconds(3600) ... .days(365)),
            .defaultsTo(.duration(.days(30))),
            """
            The statutory clock of a request. An open request raises an alarm 7 days before and \
            again when it has passed; it is never dropped.
            """
        ),
        Setting(
            .requests,
            "max_deletions_per_hour",
            .count(1...1_000_000_000, unit: "account deletions per hour"),
            .defaultsTo(.count(1000)),
            """
            The mass-deletion guard: account deletions beyond this number wait, before anything is \
            purged, for an operator to release them.
            """
        ),
        Setting(
            .requests,
            "approval",
            .choice(ApprovalPolicy.allCases.map(\.rawValue)),
            .defaultsTo(.text(ApprovalPolicy.none.rawValue)),
            """
            Whether an operator must approve the plan of an account deletion before anything is \
            revoked or purged: somebody else than who handed it in, by login uid; two of them for \
            a request of the spool, which does not tell who wrote it, or of a process that was \
            gone or hidden when it connected. What has changed until the purge of a store begins \
            is asked about again.
            """
        ),
        Setting(
            .requests,
            "without_identities",
            .choice(WithoutIdentities.allCases.map(\.rawValue)),
            .defaultsTo(.text(WithoutIdentities.proceed.rawValue)),
            """
            What happens to an account deletion whose user has no known identity: go on and say so \
            on the receipt, or wait for an operator.
            """
        ),
        Setting(
            .requests,
            "require_fresh_sign_in",
            .duration(.seconds(60) ... .days(30)),
            .optional(example: .duration(.seconds(900))),
            """
            Accept an account deletion only when the user has proven a sign-in no longer than \
            this ago: by the sign_in of the request, by reauthorize, or by an id token with its \
            raw_nonce in the spool's credentials. Its subject must be known already. Operators, \
            and providers that tell of a deleted account, are not asked. Off unless given.
            """
        ),
        Setting(
            .requests,
            "rechecks",
            .texts(.duration, 0...8),
            .defaultsTo(.texts(["24h", "7d"])),
            """
            When the stores of a completed account deletion are looked at again, counted from its \
            end, the shortest first. Data that came back raises an alarm, and the looks begin \
            anew. Until the last one the user id is kept, sealed under a key of its own that is \
            destroyed then. An empty list keeps nothing and never looks again.
            """
        ),
        Setting(
            .requests,
            "sample_interval",
            .duration(.zero ... .days(365)),
            .defaultsTo(.duration(.days(7))),
            """
            How often the stores are searched for a sample of all users that were ever erased. It \
            reads every user id that a store has, as a replay does: whole tables, buckets and \
            collections, of which the cloud's are billed. 0s never does.
            """
        ).atRestart(),
        Setting(
            .vault,
            "key_credential",
            .text(.credential),
            .defaultsTo(.text("vault-key")),
            """
            The credential that holds the vault key: 32 random bytes in base64. Without it the \
            daemon runs sealed and does nothing but take requests.
            """
        ).secret().atRestart(),
        Setting(
            .vault,
            "retired_key_credentials",
            .texts(.credential, 0...16),
            .defaultsTo(.texts([])),
            """
            Credentials of former vault keys, newest first. They open what they sealed and seal \
            nothing; take one out when nothing is sealed under it any more.
            """
        ).secret().atRestart(),
        Setting(
            .vault,
            "lost_key_ids",
            .texts(.vaultKeyID, 0...16),
            .defaultsTo(.texts([])),
            """
            Ids of vault keys that are lost for good. The start is refused while anything is \
            sealed under a key that is not loaded; what is sealed under these can never be opened \
            again, and the daemon starts without it.
            """
        ).atRestart(),
        Setting(
            .server,
            "connections_max",
            .count(2...4096, unit: "connections per socket"),
            .defaultsTo(.count(512)),
            """
            The most connections of each control socket. One uid gets a quarter of them, and an \
            eighth is kept for root. Further ones are refused with too_many_connections.
            """
        ).atRestart(),
        Setting(
            .journal,
            "level",
            .choice(JournalLevel.allCases.map(\.rawValue)),
            .defaultsTo(.text(JournalLevel.info.rawValue)),
            "The least important messages that are written; see syslog(3) for the levels."
        ),
    ]
}
