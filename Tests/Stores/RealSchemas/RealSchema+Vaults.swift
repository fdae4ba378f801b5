@testable import Stores

/// Facts: the tables that Vaultwarden's wiki and Synapse's documentation of its database name.
extension RealSchema {
    static let all = [
        vaultwarden, synapse, pagila, gitea, wordpress, mastodon, wagtail, nextcloud,
    ]

    static let vaultwarden = RealSchema(
        name: "Vaultwarden",
        kinds: ShapeKind.allCases,
        sql: """
            CREATE TABLE users(uuid CHAR(36) PRIMARY KEY, created_at TIMESTAMP, email TEXT UNIQUE,
                name TEXT);
            CREATE TABLE invitations(email CHAR(99) PRIMARY KEY);
            CREATE TABLE organizations(uuid CHAR(36) PRIMARY KEY, name TEXT, billing_email TEXT);
            CREATE TABLE collections(uuid CHAR(36) PRIMARY KEY,
                org_uuid CHAR(36) NOT NULL REFERENCES organizations(uuid), name TEXT);
            CREATE TABLE devices(uuid CHAR(36) NOT NULL, user_uuid CHAR(36) NOT NULL
                REFERENCES users(uuid), name TEXT, push_token TEXT, PRIMARY KEY (uuid, user_uuid));
            CREATE TABLE ciphers(uuid CHAR(36) PRIMARY KEY, created_at TIMESTAMP,
                user_uuid CHAR(36) REFERENCES users(uuid),
                organization_uuid CHAR(36) REFERENCES organizations(uuid), name TEXT);
            CREATE TABLE attachments(id CHAR(36) PRIMARY KEY,
                cipher_uuid CHAR(36) NOT NULL REFERENCES ciphers(uuid), file_name TEXT);
            CREATE TABLE folders(uuid CHAR(36) PRIMARY KEY,
                user_uuid CHAR(36) NOT NULL REFERENCES users(uuid), name TEXT);
            CREATE TABLE folders_ciphers(cipher_uuid CHAR(36) NOT NULL REFERENCES ciphers(uuid),
                folder_uuid CHAR(36) NOT NULL REFERENCES folders(uuid),
                PRIMARY KEY (cipher_uuid, folder_uuid));
            CREATE TABLE ciphers_collections(cipher_uuid CHAR(36) NOT NULL
                REFERENCES ciphers(uuid), collection_uuid CHAR(36) NOT NULL
                REFERENCES collections(uuid), PRIMARY KEY (cipher_uuid, collection_uuid));
            CREATE TABLE users_organizations(uuid CHAR(36) PRIMARY KEY,
                user_uuid CHAR(36) NOT NULL REFERENCES users(uuid),
                org_uuid CHAR(36) NOT NULL REFERENCES organizations(uuid), akey TEXT,
                UNIQUE (user_uuid, org_uuid));
            CREATE TABLE users_collections(user_uuid CHAR(36) NOT NULL REFERENCES users(uuid),
                collection_uuid CHAR(36) NOT NULL REFERENCES collections(uuid),
                PRIMARY KEY (user_uuid, collection_uuid));
            CREATE TABLE favorites(user_uuid CHAR(36) NOT NULL REFERENCES users(uuid),
                cipher_uuid CHAR(36) NOT NULL REFERENCES ciphers(uuid),
                PRIMARY KEY (user_uuid, cipher_uuid));
            CREATE TABLE emergency_access(uuid CHAR(36) PRIMARY KEY,
                grantor_uuid CHAR(36) REFERENCES users(uuid),
                grantee_uuid CHAR(36) REFERENCES users(uuid), email TEXT);
            CREATE TABLE twofactor(uuid CHAR(36) PRIMARY KEY,
                user_uuid CHAR(36) NOT NULL REFERENCES users(uuid), data TEXT);
            CREATE TABLE sends(uuid CHAR(36) PRIMARY KEY,
                user_uuid CHAR(36) REFERENCES users(uuid),
                organization_uuid CHAR(36) REFERENCES organizations(uuid), name TEXT);
            CREATE TABLE event(uuid CHAR(36) PRIMARY KEY, event_type INTEGER NOT NULL,
                user_uuid CHAR(36), org_uuid CHAR(36), cipher_uuid CHAR(36),
                act_user_uuid CHAR(36), ip_address TEXT);
            INSERT INTO organizations VALUES ('org-1', 'Example', 'billing@example.org');
            INSERT INTO collections VALUES ('col-1', 'org-1', 'Shared');
            INSERT INTO ciphers VALUES ('shared-1', NULL, NULL, 'org-1', 'Router');
            INSERT INTO ciphers_collections VALUES ('shared-1', 'col-1');
            """,
        userTable: "users.uuid",
        fills: [
            Fill("users") {
                ["'\(uuid(11, $0))', '2025-01-01 00:00:00', 'm\(id(12, $0))@example.org', 'A'"]
            },
            Fill("invitations") { $0 % 2 == 0 ? ["'m\(id(12, $0))@example.org'"] : [] },
            Fill("devices") { ["'\(uuid(13, $0))', '\(uuid(11, $0))', 'phone', 't\(id(14, $0))'"] },
            Fill("ciphers") { n in
                (0..<3).map {
                    "'\(uuid(20 + $0, n))', '2025-02-01 00:00:00', '\(uuid(11, n))', NULL, 'login'"
                }
            },
            Fill("attachments") { ["'a\(id(23, $0))', '\(uuid(20, $0))', 'scan.pdf'"] },
            Fill("folders") { ["'\(uuid(24, $0))', '\(uuid(11, $0))', 'private'"] },
            Fill("folders_ciphers") { n in
                (0..<2).map { "'\(uuid(20 + $0, n))', '\(uuid(24, n))'" }
            },
            Fill("users_organizations") {
                ["'\(uuid(25, $0))', '\(uuid(11, $0))', 'org-1', 'k\(id(26, $0))'"]
            },
            Fill("users_collections") { ["'\(uuid(11, $0))', 'col-1'"] },
            Fill("favorites") { ["'\(uuid(11, $0))', 'shared-1'"] },
            Fill("emergency_access") {
                ["'\(uuid(27, $0))', '\(uuid(11, $0))', '\(uuid(11, next($0)))', NULL"]
            },
            Fill("twofactor") { ["'\(uuid(28, $0))', '\(uuid(11, $0))', 's\(id(29, $0))'"] },
            Fill("sends") { ["'\(uuid(30, $0))', '\(uuid(11, $0))', NULL, 'note'"] },
            Fill("event") {
                [
                    "'e\(id(31, $0))', 1000, '\(uuid(11, $0))', NULL, NULL, '\(uuid(11, $0))',"
                        + " '192.0.2.7'"
                ]
            },
        ],
        user: { uuid(11, $0) },
        cleared: [Cleared("emergency_access", "grantee_uuid", owner: "grantor_uuid")]
    )

    /// No table refers to another by a key, and times are numbers.
    static let synapse = RealSchema(
        name: "Synapse",
        kinds: [.sqlite, .postgresql],
        sql: """
            CREATE TABLE users(name TEXT PRIMARY KEY, password_hash TEXT, creation_ts BIGINT,
                admin SMALLINT);
            CREATE TABLE profiles(user_id TEXT UNIQUE, displayname TEXT, full_user_id TEXT);
            CREATE TABLE devices(user_id TEXT, device_id TEXT, display_name TEXT, last_seen BIGINT,
                UNIQUE (user_id, device_id));
            CREATE TABLE access_tokens(id BIGINT PRIMARY KEY, user_id TEXT NOT NULL, device_id TEXT,
                token TEXT NOT NULL);
            CREATE TABLE user_ips(user_id TEXT, access_token TEXT, device_id TEXT, ip TEXT);
            CREATE TABLE user_threepids(user_id TEXT, medium TEXT, address TEXT);
            CREATE TABLE rooms(room_id TEXT PRIMARY KEY, is_public BOOLEAN, creator TEXT);
            CREATE TABLE events(event_id TEXT PRIMARY KEY, room_id TEXT NOT NULL,
                sender TEXT NOT NULL, type TEXT NOT NULL, origin_server_ts BIGINT);
            CREATE TABLE event_json(event_id TEXT UNIQUE NOT NULL, room_id TEXT NOT NULL,
                json TEXT NOT NULL);
            CREATE TABLE room_memberships(event_id TEXT UNIQUE NOT NULL, user_id TEXT NOT NULL,
                sender TEXT NOT NULL, room_id TEXT NOT NULL, membership TEXT);
            CREATE TABLE receipts_linearized(stream_id BIGINT PRIMARY KEY, room_id TEXT,
                receipt_type TEXT, user_id TEXT, event_id TEXT, data TEXT);
            CREATE TABLE account_data(user_id TEXT, account_data_type TEXT, content TEXT);
            CREATE TABLE pushers(id BIGINT PRIMARY KEY, user_name TEXT NOT NULL, pushkey TEXT);
            CREATE TABLE local_media_repository(media_id TEXT UNIQUE, media_type TEXT,
                upload_name TEXT, user_id TEXT);
            CREATE TABLE e2e_device_keys_json(user_id TEXT NOT NULL, device_id TEXT NOT NULL,
                key_json TEXT NOT NULL, UNIQUE (user_id, device_id));
            CREATE TABLE user_directory(user_id TEXT NOT NULL, room_id TEXT, display_name TEXT);
            CREATE TABLE registration_tokens(token TEXT UNIQUE NOT NULL, uses_allowed INT);
            INSERT INTO rooms VALUES ('!lobby:example.org', true, NULL);
            INSERT INTO registration_tokens VALUES ('welcome', 10);
            """,
        userTable: "users.name",
        fills: [
            Fill("users") { ["'\(matrix($0))', 'h\(id(12, $0))', 1735689600, 0"] },
            Fill("profiles") { ["'u\(id(11, $0))', 'Ann', '\(matrix($0))'"] },
            Fill("devices") { ["'\(matrix($0))', 'D\(id(13, $0))', 'phone', 1735689600000"] },
            Fill("access_tokens") {
                ["\(id(14, $0)), '\(matrix($0))', 'D\(id(13, $0))', 't\(id(15, $0))'"]
            },
            Fill("user_ips") {
                ["'\(matrix($0))', 't\(id(15, $0))', 'D\(id(13, $0))', '192.0.2.9'"]
            },
            Fill("user_threepids") { ["'\(matrix($0))', 'email', 'm\(id(16, $0))@example.org'"] },
            Fill("rooms") { ["'!r\($0):example.org', false, '\(matrix($0))'"] },
            Fill("events") {
                ["'$\(id(17, $0))', '!lobby:example.org', '\(matrix($0))', 'm.room.message', 1"]
            },
            Fill("event_json") {
                ["'$\(id(17, $0))', '!lobby:example.org', '{\"sender\": \"\(matrix($0))\"}'"]
            },
            Fill("room_memberships") {
                [
                    "'$\(id(17, $0))', '\(matrix($0))', '\(matrix($0))', '!lobby:example.org',"
                        + " 'join'"
                ]
            },
            Fill("receipts_linearized") {
                [
                    "\(id(18, $0)), '!lobby:example.org', 'm.read', '\(matrix($0))',"
                        + " '$\(id(17, $0))', '{}'"
                ]
            },
            Fill("account_data") { ["'\(matrix($0))', 'm.direct', '{}'"] },
            Fill("pushers") { ["\(id(19, $0)), '\(matrix($0))', 'k\(id(20, $0))'"] },
            Fill("local_media_repository") {
                ["'m\(id(21, $0))', 'image/png', 'me.png', '\(matrix($0))'"]
            },
            Fill("e2e_device_keys_json") {
                ["'\(matrix($0))', 'D\(id(13, $0))', '{\"user_id\": \"\(matrix($0))\"}'"]
            },
            Fill("user_directory") { ["'\(matrix($0))', '!lobby:example.org', 'Ann'"] },
        ],
        user: { matrix($0) },
        cleared: [Cleared("rooms", "creator")]
    )

    private static func matrix(_ user: Int) -> String { "@u\(id(11, user)):example.org" }
}
