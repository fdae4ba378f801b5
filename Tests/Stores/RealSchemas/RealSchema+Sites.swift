@testable import Stores

/// Facts: the tables that the documentation of WordPress, Mastodon, Wagtail and Nextcloud names.
extension RealSchema {
    /// No table refers to another by a key, and absent parents are 0.
    static let wordpress = RealSchema(
        name: "WordPress",
        kinds: [.mysql],
        sql: """
            CREATE TABLE wp_users(ID BIGINT UNSIGNED PRIMARY KEY, user_login TEXT NOT NULL,
                user_email TEXT NOT NULL, user_registered DATETIME NOT NULL, display_name TEXT);
            CREATE TABLE wp_usermeta(umeta_id BIGINT UNSIGNED PRIMARY KEY,
                user_id BIGINT UNSIGNED NOT NULL DEFAULT 0, meta_key TEXT, meta_value TEXT);
            CREATE TABLE wp_posts(ID BIGINT UNSIGNED PRIMARY KEY,
                post_author BIGINT UNSIGNED NOT NULL DEFAULT 0, post_date DATETIME NOT NULL,
                post_title TEXT NOT NULL, post_parent BIGINT UNSIGNED NOT NULL DEFAULT 0);
            CREATE TABLE wp_postmeta(meta_id BIGINT UNSIGNED PRIMARY KEY,
                post_id BIGINT UNSIGNED NOT NULL DEFAULT 0, meta_key TEXT, meta_value TEXT);
            CREATE TABLE wp_comments(comment_ID BIGINT UNSIGNED PRIMARY KEY,
                comment_post_ID BIGINT UNSIGNED NOT NULL DEFAULT 0, comment_author TEXT,
                comment_author_email TEXT, comment_date DATETIME NOT NULL,
                user_id BIGINT UNSIGNED NOT NULL DEFAULT 0);
            CREATE TABLE wp_commentmeta(meta_id BIGINT UNSIGNED PRIMARY KEY,
                comment_id BIGINT UNSIGNED NOT NULL DEFAULT 0, meta_key TEXT, meta_value TEXT);
            CREATE TABLE wp_links(link_id BIGINT UNSIGNED PRIMARY KEY, link_url TEXT,
                link_owner BIGINT UNSIGNED NOT NULL DEFAULT 1);
            CREATE TABLE wp_terms(term_id BIGINT UNSIGNED PRIMARY KEY, name TEXT);
            CREATE TABLE wp_options(option_id BIGINT UNSIGNED PRIMARY KEY, option_name TEXT,
                option_value TEXT);
            INSERT INTO wp_terms VALUES (1, 'Uncategorized');
            INSERT INTO wp_options VALUES (1, 'siteurl', 'https://example.org');
            INSERT INTO wp_posts VALUES (3, 0, '2025-01-01', 'Privacy Policy', 0);
            """,
        userTable: "wp_users.ID",
        fills: [
            Fill("wp_users") {
                [
                    "\(id(11, $0)), 'w\(id(12, $0))', 'w\(id(12, $0))@example.org',"
                        + " '2025-01-01 00:00:00', 'Ann'"
                ]
            },
            Fill("wp_usermeta") {
                ["\(id(13, $0)), \(id(11, $0)), 'nickname', 'w\(id(12, $0))'"]
            },
            Fill("wp_posts") {
                ["\(id(14, $0)), \(id(11, $0)), '2025-02-01 00:00:00', 'Hello', 0"]
            },
            Fill("wp_postmeta") { ["\(id(15, $0)), \(id(14, $0)), '_edit_last', '1'"] },
            Fill("wp_comments") {
                [
                    "\(3 * $0), 3, 'Ann', 'w\(id(12, $0))@example.org', '2025-03-01 00:00:00',"
                        + " \(id(11, $0))",
                    "\(3 * $0 + 1), \(id(14, $0)), 'Guest', 'guest@example.org',"
                        + " '2025-03-01 00:00:00', 0",
                    "\(3 * $0 + 2), 3, 'Ann', 'w\(id(12, $0))@example.org', '2025-03-01 00:00:00',"
                        + " 0",
                ]
            },
            Fill("wp_commentmeta") {
                [
                    "\(id(19, $0)), \(3 * $0), 'rating', '5'",
                    "\(id(20, $0)), \(3 * $0 + 1), 'rating', '4'",
                ]
            },
            Fill("wp_links") { ["\(id(21, $0)), 'https://example.org', \(id(11, $0))"] },
        ],
        user: { "\(id(11, $0))" },
        edits: belowGoes
    )

    static let mastodon = RealSchema(
        name: "Mastodon",
        kinds: [.postgresql],
        sql: """
            CREATE TABLE accounts(id BIGINT PRIMARY KEY, username TEXT NOT NULL, domain TEXT,
                created_at TIMESTAMP NOT NULL);
            CREATE TABLE users(id BIGINT PRIMARY KEY, email TEXT NOT NULL UNIQUE,
                account_id BIGINT NOT NULL REFERENCES accounts ON DELETE CASCADE,
                created_at TIMESTAMP NOT NULL);
            CREATE TABLE account_stats(id BIGINT PRIMARY KEY,
                account_id BIGINT NOT NULL REFERENCES accounts ON DELETE CASCADE);
            CREATE TABLE session_activations(id BIGINT PRIMARY KEY,
                user_id BIGINT NOT NULL REFERENCES users ON DELETE CASCADE, ip INET);
            CREATE TABLE statuses(id BIGINT PRIMARY KEY,
                account_id BIGINT NOT NULL REFERENCES accounts ON DELETE CASCADE, text TEXT,
                in_reply_to_id BIGINT REFERENCES statuses ON DELETE SET NULL,
                in_reply_to_account_id BIGINT REFERENCES accounts ON DELETE SET NULL,
                reblog_of_id BIGINT REFERENCES statuses ON DELETE CASCADE,
                created_at TIMESTAMP NOT NULL);
            CREATE TABLE favourites(id BIGINT PRIMARY KEY,
                account_id BIGINT NOT NULL REFERENCES accounts ON DELETE CASCADE,
                status_id BIGINT NOT NULL REFERENCES statuses ON DELETE CASCADE);
            CREATE TABLE mentions(id BIGINT PRIMARY KEY,
                status_id BIGINT REFERENCES statuses ON DELETE CASCADE,
                account_id BIGINT REFERENCES accounts ON DELETE CASCADE);
            CREATE TABLE media_attachments(id BIGINT PRIMARY KEY,
                status_id BIGINT REFERENCES statuses ON DELETE SET NULL,
                account_id BIGINT REFERENCES accounts ON DELETE SET NULL, file_name TEXT);
            CREATE TABLE follows(id BIGINT PRIMARY KEY,
                account_id BIGINT NOT NULL REFERENCES accounts ON DELETE CASCADE,
                target_account_id BIGINT NOT NULL REFERENCES accounts ON DELETE CASCADE);
            CREATE TABLE lists(id BIGINT PRIMARY KEY,
                account_id BIGINT NOT NULL REFERENCES accounts ON DELETE CASCADE, title TEXT);
            CREATE TABLE list_accounts(id BIGINT PRIMARY KEY,
                list_id BIGINT NOT NULL REFERENCES lists ON DELETE CASCADE,
                account_id BIGINT NOT NULL REFERENCES accounts ON DELETE CASCADE,
                follow_id BIGINT REFERENCES follows ON DELETE CASCADE);
            CREATE TABLE notifications(id BIGINT PRIMARY KEY, activity_id BIGINT NOT NULL,
                activity_type TEXT NOT NULL,
                account_id BIGINT NOT NULL REFERENCES accounts ON DELETE CASCADE,
                from_account_id BIGINT NOT NULL REFERENCES accounts ON DELETE CASCADE);
            CREATE TABLE reports(id BIGINT PRIMARY KEY,
                account_id BIGINT NOT NULL REFERENCES accounts ON DELETE CASCADE,
                target_account_id BIGINT NOT NULL REFERENCES accounts ON DELETE CASCADE,
                assigned_account_id BIGINT REFERENCES accounts ON DELETE SET NULL);
            CREATE TABLE custom_emojis(id BIGINT PRIMARY KEY, shortcode TEXT);
            INSERT INTO custom_emojis VALUES (1, 'blobcat');
            """,
        userTable: "accounts.id",
        fills: [
            Fill("accounts") { ["\(id(11, $0)), 'a\(id(12, $0))', NULL, '2025-01-01'"] },
            Fill("users") {
                ["\(id(13, $0)), 'a\(id(12, $0))@example.org', \(id(11, $0)), '2025-01-01'"]
            },
            Fill("account_stats") { ["\(id(14, $0)), \(id(11, $0))"] },
            Fill("session_activations") { ["\(id(15, $0)), \(id(13, $0)), '192.0.2.3'"] },
            Fill("statuses") {
                ["\(id(16, $0)), \(id(11, $0)), 'Hello', NULL, NULL, NULL, '2025-02-01'"]
            },
            Fill("statuses") {
                [
                    "\(id(17, next($0))), \(id(11, next($0))), 'Reply', \(id(16, $0)),"
                        + " \(id(11, $0)), NULL, '2025-02-02'"
                ]
            },
            Fill("favourites") { ["\(id(18, $0)), \(id(11, next($0))), \(id(16, $0))"] },
            Fill("mentions") { ["\(id(19, $0)), \(id(17, next($0))), \(id(11, $0))"] },
            Fill("media_attachments") { ["\(id(20, $0)), \(id(16, $0)), \(id(11, $0)), 'x'"] },
            Fill("follows") { ["\(id(21, $0)), \(id(11, $0)), \(id(11, next($0)))"] },
            Fill("lists") { ["\(id(22, $0)), \(id(11, $0)), 'Friends'"] },
            Fill("list_accounts") {
                ["\(id(23, $0)), \(id(22, $0)), \(id(11, next($0))), \(id(21, $0))"]
            },
            Fill("notifications") {
                ["\(id(24, $0)), \(id(18, $0)), 'Favourite', \(id(11, $0)), \(id(11, next($0)))"]
            },
            Fill("reports") {
                ["\(id(25, $0)), \(id(11, $0)), \(id(11, next($0))), \(id(11, 1))"]
            },
        ],
        user: { "\(id(11, $0))" },
        // Files of an account that is gone are of nobody: they go with it.
        edits: [
            (
                """
                table = "media_attachments"
                column = "account_id"
                id_type = "integer"
                action = "anonymize"
                set = { account_id = { strategy = "null" } }
                keep_reason = "the row is of others; only the reference to the user goes"
                """,
                """
                table = "media_attachments"
                column = "account_id"
                id_type = "integer"
                action = "delete"
                """
            )
        ],
        cleared: [Cleared("statuses", "in_reply_to_account_id", owner: "account_id")]
    )

    static let wagtail = RealSchema(
        name: "Wagtail",
        kinds: [.sqlite, .postgresql],
        sql: """
            CREATE TABLE auth_user(id INTEGER PRIMARY KEY, username TEXT NOT NULL UNIQUE,
                email TEXT NOT NULL, date_joined TIMESTAMP NOT NULL);
            CREATE TABLE auth_group(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
            CREATE TABLE auth_user_groups(id INTEGER PRIMARY KEY,
                user_id INTEGER NOT NULL REFERENCES auth_user,
                group_id INTEGER NOT NULL REFERENCES auth_group, UNIQUE (user_id, group_id));
            CREATE TABLE django_content_type(id INTEGER PRIMARY KEY, app_label TEXT NOT NULL,
                model TEXT NOT NULL);
            CREATE TABLE django_admin_log(id INTEGER PRIMARY KEY, object_id TEXT,
                object_repr TEXT NOT NULL, content_type_id INTEGER REFERENCES django_content_type,
                user_id INTEGER NOT NULL REFERENCES auth_user);
            CREATE TABLE wagtailcore_page(id INTEGER PRIMARY KEY, title TEXT NOT NULL,
                owner_id INTEGER REFERENCES auth_user, locked_by_id INTEGER REFERENCES auth_user);
            CREATE TABLE wagtailcore_comment(id INTEGER PRIMARY KEY, text TEXT NOT NULL,
                page_id INTEGER NOT NULL REFERENCES wagtailcore_page,
                user_id INTEGER NOT NULL REFERENCES auth_user,
                resolved_by_id INTEGER REFERENCES auth_user);
            CREATE TABLE wagtailcore_commentreply(id INTEGER PRIMARY KEY, text TEXT NOT NULL,
                comment_id INTEGER NOT NULL REFERENCES wagtailcore_comment,
                user_id INTEGER NOT NULL REFERENCES auth_user);
            CREATE TABLE wagtailcore_pagelogentry(id INTEGER PRIMARY KEY, label TEXT NOT NULL,
                page_id INTEGER NOT NULL, user_id INTEGER);
            CREATE TABLE wagtailimages_image(id INTEGER PRIMARY KEY, title TEXT NOT NULL,
                uploaded_by_user_id INTEGER REFERENCES auth_user);
            CREATE TABLE wagtailusers_userprofile(id INTEGER PRIMARY KEY,
                user_id INTEGER NOT NULL UNIQUE REFERENCES auth_user, avatar TEXT);
            CREATE TABLE django_session(session_key TEXT PRIMARY KEY, session_data TEXT NOT NULL);
            INSERT INTO auth_group VALUES (1, 'Editors');
            INSERT INTO django_content_type VALUES (4, 'auth', 'user'), (9, 'wagtailcore', 'page');
            INSERT INTO wagtailcore_page VALUES (1, 'Root', NULL, NULL);
            INSERT INTO django_session VALUES ('s1', 'opaque');
            """,
        userTable: "auth_user.id",
        fills: [
            Fill("auth_user") {
                [
                    "\(id(11, $0)), 'd\(id(12, $0))', 'd\(id(12, $0))@example.org',"
                        + " '2025-01-01 00:00:00'"
                ]
            },
            Fill("auth_user_groups") { ["\(id(13, $0)), \(id(11, $0)), 1"] },
            Fill("django_admin_log") {
                ["\(id(14, $0)), '\(id(11, $0))', 'A', 4, \(id(11, next($0)))"]
            },
            Fill("wagtailcore_page") { ["\(id(15, $0)), 'News', \(id(11, $0)), NULL"] },
            Fill("wagtailcore_comment") {
                [
                    "\(id(16, $0)), 'Ok', \(id(15, $0)), \(id(11, next($0))), NULL",
                    "\(id(17, next($0))), 'Ok', 1, \(id(11, next($0))), \(id(11, $0))",
                ]
            },
            Fill("wagtailcore_commentreply") {
                [
                    "\(id(18, $0)), 'Ok', \(id(17, next($0))), \(id(11, $0))",
                    "\(id(19, $0)), 'Ok', \(id(16, $0)), \(id(11, next($0)))",
                ]
            },
            Fill("wagtailcore_pagelogentry") { ["\(id(20, $0)), 'News', \(id(15, $0)), NULL"] },
            Fill("wagtailcore_pagelogentry") { ["\(id(21, $0)), 'Root', 1, \(id(11, $0))"] },
            Fill("wagtailimages_image") { ["\($0), 'Logo', \(id(11, $0))"] },
            Fill("wagtailusers_userprofile") { ["\(id(23, $0)), \(id(11, $0)), ''"] },
        ],
        user: { "\(id(11, $0))" },
        edits: belowGoes,
        cleared: [Cleared("wagtailcore_comment", "resolved_by_id", owner: "user_id")]
    )

    /// Mount points and principals have the id inside a path: a person decides about these.
    static let nextcloud = RealSchema(
        name: "Nextcloud",
        kinds: [.sqlite, .mysql],
        sql: """
            CREATE TABLE oc_users(uid CHAR(64) PRIMARY KEY, displayname TEXT, password TEXT);
            CREATE TABLE oc_accounts(uid CHAR(64) PRIMARY KEY, data TEXT);
            CREATE TABLE oc_preferences(userid CHAR(64), appid CHAR(32), configkey CHAR(64),
                configvalue TEXT, PRIMARY KEY (userid, appid, configkey));
            CREATE TABLE oc_groups(gid CHAR(64) PRIMARY KEY, displayname TEXT);
            CREATE TABLE oc_group_user(gid CHAR(64), uid CHAR(64), PRIMARY KEY (gid, uid));
            CREATE TABLE oc_authtoken(id INTEGER PRIMARY KEY, uid CHAR(64), login_name TEXT,
                name TEXT);
            CREATE TABLE oc_mounts(id INTEGER PRIMARY KEY, storage_id INTEGER, user_id CHAR(64),
                mount_point TEXT);
            CREATE TABLE oc_share(id INTEGER PRIMARY KEY, share_type INTEGER, share_with TEXT,
                uid_owner TEXT, uid_initiator TEXT, item_source TEXT);
            CREATE TABLE oc_activity(activity_id INTEGER PRIMARY KEY, timestamp INTEGER,
                affecteduser TEXT, subjectparams TEXT);
            CREATE TABLE oc_comments(id INTEGER PRIMARY KEY, actor_type TEXT, actor_id TEXT,
                message TEXT);
            CREATE TABLE oc_vcategory(id INTEGER PRIMARY KEY, uid TEXT, category TEXT);
            CREATE TABLE oc_notifications(notification_id INTEGER PRIMARY KEY, app TEXT,
                user_name TEXT);
            CREATE TABLE oc_appconfig(appid CHAR(32), configkey CHAR(64), configvalue TEXT,
                PRIMARY KEY (appid, configkey));
            INSERT INTO oc_groups VALUES ('admin', 'admin');
            INSERT INTO oc_appconfig VALUES ('core', 'installedat', '1735689600');
            """,
        userTable: "oc_users.uid",
        fills: [
            Fill("oc_users") { ["'n\(id(11, $0))', 'Ann', 'h\(id(12, $0))'"] },
            Fill("oc_accounts") { ["'n\(id(11, $0))', '{\"mail\": \"m\(id(13, $0))@x.org\"}'"] },
            Fill("oc_preferences") { ["'n\(id(11, $0))', 'core', 'lang', 'en'"] },
            Fill("oc_group_user") { ["'admin', 'n\(id(11, $0))'"] },
            Fill("oc_authtoken") {
                ["\(id(14, $0)), 'n\(id(11, $0))', 'n\(id(11, $0))', 'phone'"]
            },
            Fill("oc_mounts") {
                ["\(id(15, $0)), \(id(16, $0)), 'n\(id(11, $0))', '/n\(id(11, $0))/'"]
            },
            Fill("oc_share") {
                [
                    "\(id(17, $0)), 0, 'n\(id(11, next($0)))', 'n\(id(11, $0))', 'n\(id(11, $0))',"
                        + " '\(id(18, $0))'"
                ]
            },
            Fill("oc_activity") {
                [
                    "\(id(19, $0)), 1735689600, 'n\(id(11, $0))', '{\"user\": \"n\(id(11, $0))\"}'"
                ]
            },
            Fill("oc_comments") { ["\(id(20, $0)), 'users', 'n\(id(11, $0))', 'Nice'"] },
            Fill("oc_vcategory") { ["\(id(21, $0)), 'n\(id(11, $0))', 'Work'"] },
            Fill("oc_notifications") { ["\(id(22, $0)), 'files', 'n\(id(11, $0))'"] },
        ],
        user: { "n\(id(11, $0))" }
    )
}
