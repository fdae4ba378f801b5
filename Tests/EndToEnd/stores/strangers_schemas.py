"""Tables of eight applications, rebuilt from what they publish, with rows of 1,000 users.

A cell that says who a user is carries that user's number; the owner of a row is whose it is, None for what nobody owns.
Ids are as short as those of a young installation.
"""

import dataclasses

USERS = 1000
FIRST = ["Ann", "Bob", "Carla", "Deniz", "Eve", "Femi", "Gus", "Hana", "Ivo", "June"]
LAST = ["Meyer", "Okafor", "Silva", "Novak", "Berg", "Rossi", "Kim", "Ahmed", "Dubois", "Lind", "Costa"]
DATE, UNIX, MILLIS = "2025-03-01 10:00:00", 1740823200, 1740823200000


class Of(str):
    """A value that names a user."""

    def __new__(cls, user, value):
        made = str.__new__(cls, value)
        made.user = user
        return made


@dataclasses.dataclass
class App:
    name: str
    kind: str
    users: str
    ddl: str
    # Of a user's number, rows as (table, owner, cells).
    rows: object
    # What a person edits in the suggestion, as (pattern, replacement) of lines.
    edits: list = dataclasses.field(default_factory=list)
    # All that the check reports; anything else is noise.
    reported: list = dataclasses.field(default_factory=list)
    identity: object = str
    # Rows that nobody owns.
    shared: list = dataclasses.field(default_factory=list)


def edit(place, action, *masked):
    """Another action for the rule about a column; what is masked becomes NULL, or a given value."""
    table, column = place.split(".")
    lines = [f'action = "{action}"']
    if masked:
        masks = (mask.split(" = ") if " = " in mask else (mask, None) for mask in masked)
        sets = (f'{name} = {{ strategy = "constant", value = {value} }}' if value
                else f'{name} = {{ strategy = "null" }}' for name, value in masks)
        lines.append(f"set = {{ {', '.join(sets)} }}")
    if action != "delete":
        lines.append('keep_reason = "content of the community"')
    before = rf'^(table = "{table}"\ncolumn = "{column}"\n(?:(?!action).+\n)*)'
    return before + r"action = .*(?:\nset = .*)?(?:\nkeep_reason = .*)?", r"\1" + "\n".join(lines)


def beside(n, by=1):
    return (n - 1 + by) % USERS + 1


def login(n):
    return f"{FIRST[n % 10].lower()}{LAST[n % 11].lower()}{n}"


def i(n):
    return Of(n, str(n))


def l(n):
    return Of(n, login(n))


def e(n):
    return Of(n, f"{login(n)}@mail.example")


def name(n):
    return Of(n, f"{FIRST[n % 10]} {LAST[n % 11]} the {n}th")


def ip(n):
    return Of(n, f"198.51.{n // 250}.{n % 250}")


def first(n):
    return FIRST[n % 10]


def hexed(kind, n):
    return f"6412ab{kind:02x}{n * 7919:08x}{n * 104729:08x}"


def lettered(kind, n):
    digits, value = "", n * 7919 + kind * 10**9 + 31**14
    for _ in range(26):
        digits, value = digits + "ybndrfg8ejkmcpqxot1uwisza345h769"[value % 32], value // 32 or 31**13 + n * kind
    return digits


def discourse(n):
    m, o = beside(n), beside(n, 7)
    yield "users", n, [i(n), l(n), l(n), name(n), DATE, "f", ip(n)]
    yield "user_emails", n, [n, i(n), e(n), "t", DATE]
    yield "user_profiles", n, [i(n), "I like trains", "Oslo"]
    yield "user_auth_tokens", n, [n, i(n), f"h{n * 99991}", ip(n), DATE]
    yield "topics", n, [n, f"About trains {n * 31}", i(n), i(m), DATE, n % 9 + 1]
    yield "posts", n, [n, i(n), n, 1, "Hello", "NULL", i(n), DATE]
    yield "posts", m, [USERS + n, i(m), n, 2, Of(n, f"@{login(n)} I agree"), i(n), i(m), DATE]
    yield "post_actions", m, [n, n, i(m), 2, DATE]
    yield "user_actions", m, [n, 1, i(m), n, n, i(n)]
    yield "notifications", m, [n, 5, i(m), n, Of(n, f'{{"topic_title":"Trains","display_username":"{login(n)}"}}')]
    yield "email_logs", n, [n, e(n), "digest", i(n), DATE]
    yield "invites", n, [n, f"k{n * 7}", Of(m, f"{login(m)}@mail.example"), i(n), DATE]
    yield "invited_users", m, [n, i(m), n]
    yield "user_histories", None, [n, i(o), i(n), 4, e(n), DATE]
    yield "bookmarks", n, [n, i(n), USERS + n, "Post", DATE]
    yield "incoming_emails", n, [n, i(n), n, e(n), f"reply+{n * 77}@forum.example", DATE]


DISCOURSE = App("Discourse", "postgresql", "users.id", """
CREATE TABLE users (id integer PRIMARY KEY, username varchar(60) NOT NULL, username_lower varchar(60) NOT NULL UNIQUE,
 name varchar, created_at timestamp NOT NULL, admin boolean NOT NULL, ip_address varchar);
CREATE TABLE user_emails (id integer PRIMARY KEY, user_id integer NOT NULL, email varchar(513) NOT NULL, "primary" boolean NOT NULL, created_at timestamp NOT NULL);
CREATE TABLE user_profiles (user_id integer PRIMARY KEY, bio_raw text, location varchar(3000));
CREATE TABLE user_auth_tokens (id integer PRIMARY KEY, user_id integer NOT NULL, auth_token varchar NOT NULL, client_ip varchar, created_at timestamp NOT NULL);
CREATE TABLE topics (id integer PRIMARY KEY, title varchar NOT NULL, user_id integer, last_post_user_id integer NOT NULL, created_at timestamp NOT NULL, category_id integer);
CREATE TABLE posts (id integer PRIMARY KEY, user_id integer, topic_id integer NOT NULL, post_number integer NOT NULL, raw text NOT NULL, reply_to_user_id integer, last_editor_id integer, created_at timestamp NOT NULL);
CREATE TABLE post_actions (id integer PRIMARY KEY, post_id integer NOT NULL, user_id integer NOT NULL, post_action_type_id integer NOT NULL, created_at timestamp NOT NULL);
CREATE TABLE user_actions (id integer PRIMARY KEY, action_type integer NOT NULL, user_id integer NOT NULL, target_topic_id integer, target_post_id integer, acting_user_id integer);
CREATE TABLE notifications (id bigint PRIMARY KEY, notification_type integer NOT NULL, user_id integer NOT NULL, topic_id integer, data varchar(1000) NOT NULL);
CREATE TABLE email_logs (id integer PRIMARY KEY, to_address varchar NOT NULL, email_type varchar NOT NULL, user_id integer, created_at timestamp NOT NULL);
CREATE TABLE invites (id integer PRIMARY KEY, invite_key varchar(32) NOT NULL UNIQUE, email varchar, invited_by_id integer NOT NULL, created_at timestamp NOT NULL);
CREATE TABLE invited_users (id bigint PRIMARY KEY, user_id integer, invite_id integer NOT NULL);
CREATE TABLE user_histories (id integer PRIMARY KEY, acting_user_id integer, target_user_id integer, action integer NOT NULL, email varchar, created_at timestamp NOT NULL);
CREATE TABLE bookmarks (id bigint PRIMARY KEY, user_id bigint NOT NULL, bookmarkable_id integer, bookmarkable_type varchar, created_at timestamp NOT NULL);
CREATE TABLE incoming_emails (id integer PRIMARY KEY, user_id integer, topic_id integer, from_address varchar, to_addresses varchar, created_at timestamp NOT NULL);
CREATE TABLE categories (id integer PRIMARY KEY, name varchar(50) NOT NULL, user_id integer NOT NULL);
""", discourse, edits=[
    edit("user_histories.target_user_id", "anonymize", "target_user_id", "email"),
    edit("invites.invited_by_id", "delete"),
], reported=["categories.user_id", "invites.email", "notifications.data", "posts.raw"], shared=[("categories", [k, f"Category {k}", -1]) for k in range(1, 10)])


def mattermost(n):
    m = beside(n)
    u, v = Of(n, lettered(1, n)), Of(m, lettered(1, m))
    yield "users", n, [u, MILLIS, l(n), e(n), first(n), name(n)]
    yield "channels", None, [lettered(2, n), MILLIS, "O", f"Trains {n}", f"trains-{n}", u]
    yield "channelmembers", n, [lettered(2, n), u, "channel_admin", MILLIS]
    yield "channelmembers", m, [lettered(2, n), v, "", MILLIS]
    yield "posts", n, [lettered(3, n), MILLIS, u, lettered(2, n), "", "Hello", "{}"]
    yield "posts", m, [lettered(4, n), MILLIS, v, lettered(2, n), lettered(3, n), Of(n, f"@{login(n)} yes"), "{}"]
    yield "reactions", m, [v, lettered(3, n), "thumbsup", MILLIS]
    yield "preferences", n, [u, "direct_channel_show", v, "true"]
    yield "sessions", n, [lettered(5, n), lettered(6, n), MILLIS, u]
    yield "fileinfo", n, [lettered(7, n), u, lettered(3, n), MILLIS, "train.png"]
    yield "threadmemberships", m, [lettered(3, n), v, "t"]
    yield "status", n, [u, "away", MILLIS]
    yield "audits", n, [lettered(8, n), MILLIS, u, "login", ip(n)]
    yield "tokens", n, [lettered(9, n), MILLIS, "password_recovery", Of(n, f'{{"UserId":"{lettered(1, n)}","Email":"{login(n)}@mail.example"}}')]


MATTERMOST = App("Mattermost", "postgresql", "users.id", """
CREATE TABLE users (id varchar(26) PRIMARY KEY, createat bigint, username varchar(64) UNIQUE, email varchar(128) UNIQUE, firstname varchar(64), nickname varchar(64));
CREATE TABLE channels (id varchar(26) PRIMARY KEY, createat bigint, type varchar(1), displayname varchar(64), name varchar(64), creatorid varchar(26));
CREATE TABLE channelmembers (channelid varchar(26) NOT NULL, userid varchar(26) NOT NULL, roles varchar(256), lastviewedat bigint, PRIMARY KEY (channelid, userid));
CREATE TABLE posts (id varchar(26) PRIMARY KEY, createat bigint, userid varchar(26), channelid varchar(26), rootid varchar(26), message varchar(65535), props varchar(8000));
CREATE TABLE reactions (userid varchar(26) NOT NULL, postid varchar(26) NOT NULL, emojiname varchar(64) NOT NULL, createat bigint, PRIMARY KEY (postid, userid, emojiname));
CREATE TABLE preferences (userid varchar(26) NOT NULL, category varchar(32) NOT NULL, name varchar(32) NOT NULL, value varchar(2000), PRIMARY KEY (userid, category, name));
CREATE TABLE sessions (id varchar(26) PRIMARY KEY, token varchar(26), createat bigint, userid varchar(26));
CREATE TABLE fileinfo (id varchar(26) PRIMARY KEY, creatorid varchar(26), postid varchar(26), createat bigint, name varchar(256));
CREATE TABLE threadmemberships (postid varchar(26) NOT NULL, userid varchar(26) NOT NULL, following boolean, PRIMARY KEY (postid, userid));
CREATE TABLE status (userid varchar(26) PRIMARY KEY, status varchar(32), lastactivityat bigint);
CREATE TABLE audits (id varchar(26) PRIMARY KEY, createat bigint, userid varchar(26), action varchar(512), ipaddress varchar(64));
CREATE TABLE tokens (token varchar(64) PRIMARY KEY, createat bigint, type varchar(64), extra varchar(2048));
CREATE TABLE systems (name varchar(64) PRIMARY KEY, value varchar(1024));
""", mattermost, edits=[
    edit("fileinfo.creatorid", "delete"),
], reported=["posts.message", "tokens.extra"], identity=lambda n: lettered(1, n), shared=[("systems", ["Version", "9.5.0"])])


def zulip(n):
    m, o = beside(n), beside(n, 7)
    yield "zerver_userprofile", n, [i(n), 2, e(n), Of(n, f"user{n}@zulip.example"), name(n), DATE]
    yield "zerver_recipient", n, [n, i(n), 1]
    yield "zerver_subscription", n, [n, i(n), n % 9 + 2001, "t"]
    yield "zerver_message", n, [n, i(n), n % 9 + 2001, 2, "trains", "Hello", DATE]
    yield "zerver_message", m, [USERS + n, i(m), n % 9 + 2001, 2, "trains", Of(n, f"@**{FIRST[n % 10]} {LAST[n % 11]} the {n}th** hi"), DATE]
    yield "zerver_usermessage", m, [n, i(m), n, 1]
    yield "zerver_usermessage", n, [USERS + n, i(n), n, 1]
    yield "zerver_reaction", m, [n, i(m), n, "tada"]
    yield "zerver_preregistrationuser", n, [n, Of(m, f"{login(m)}@mail.example"), i(n), DATE, 1]
    yield "zerver_realmauditlog", None, [n, i(o), i(n), 101, DATE]
    yield "zerver_attachment", n, [n, "train.png", f"2/{n:x}/train.png", i(n), DATE]
    yield "zerver_draft", n, [n, i(n), "Later", DATE]
    yield "zerver_useractivity", n, [n, i(n), "send_message", 3, DATE]
    yield "social_auth_usersocialauth", n, [n, "google", e(n), i(n)]


ZULIP = App("Zulip", "postgresql", "zerver_userprofile.id", """
CREATE TABLE zerver_realm (id integer PRIMARY KEY, string_id varchar(40) NOT NULL UNIQUE, name varchar(40) NOT NULL);
CREATE TABLE zerver_userprofile (id integer PRIMARY KEY, realm_id integer NOT NULL REFERENCES zerver_realm DEFERRABLE INITIALLY DEFERRED, delivery_email varchar(254) NOT NULL, email varchar(254) NOT NULL, full_name varchar(100) NOT NULL, date_joined timestamptz NOT NULL);
CREATE TABLE zerver_recipient (id integer PRIMARY KEY, type_id integer NOT NULL, type smallint NOT NULL, UNIQUE (type, type_id));
CREATE TABLE zerver_subscription (id integer PRIMARY KEY, user_profile_id integer NOT NULL REFERENCES zerver_userprofile DEFERRABLE INITIALLY DEFERRED, recipient_id integer NOT NULL REFERENCES zerver_recipient DEFERRABLE INITIALLY DEFERRED, active boolean NOT NULL);
CREATE TABLE zerver_message (id integer PRIMARY KEY, sender_id integer NOT NULL REFERENCES zerver_userprofile DEFERRABLE INITIALLY DEFERRED, recipient_id integer NOT NULL REFERENCES zerver_recipient DEFERRABLE INITIALLY DEFERRED, realm_id integer NOT NULL REFERENCES zerver_realm DEFERRABLE INITIALLY DEFERRED, subject varchar(60) NOT NULL, content text NOT NULL, date_sent timestamptz NOT NULL);
CREATE TABLE zerver_usermessage (id bigint PRIMARY KEY, user_profile_id integer NOT NULL REFERENCES zerver_userprofile DEFERRABLE INITIALLY DEFERRED, message_id integer NOT NULL REFERENCES zerver_message DEFERRABLE INITIALLY DEFERRED, flags bigint NOT NULL);
CREATE TABLE zerver_reaction (id integer PRIMARY KEY, user_profile_id integer NOT NULL REFERENCES zerver_userprofile DEFERRABLE INITIALLY DEFERRED, message_id integer NOT NULL REFERENCES zerver_message DEFERRABLE INITIALLY DEFERRED, emoji_name text NOT NULL);
CREATE TABLE zerver_preregistrationuser (id integer PRIMARY KEY, email varchar(254) NOT NULL, referred_by_id integer REFERENCES zerver_userprofile DEFERRABLE INITIALLY DEFERRED, invited_at timestamptz NOT NULL, status integer NOT NULL);
CREATE TABLE zerver_realmauditlog (id integer PRIMARY KEY, acting_user_id integer REFERENCES zerver_userprofile DEFERRABLE INITIALLY DEFERRED, modified_user_id integer REFERENCES zerver_userprofile DEFERRABLE INITIALLY DEFERRED, event_type smallint NOT NULL, event_time timestamptz NOT NULL);
CREATE TABLE zerver_attachment (id integer PRIMARY KEY, file_name text NOT NULL, path_id text NOT NULL UNIQUE, owner_id integer NOT NULL REFERENCES zerver_userprofile DEFERRABLE INITIALLY DEFERRED, create_time timestamptz NOT NULL);
CREATE TABLE zerver_draft (id integer PRIMARY KEY, user_profile_id integer NOT NULL REFERENCES zerver_userprofile DEFERRABLE INITIALLY DEFERRED, content text NOT NULL, last_edit_time timestamptz NOT NULL);
CREATE TABLE zerver_useractivity (id integer PRIMARY KEY, user_profile_id integer NOT NULL REFERENCES zerver_userprofile DEFERRABLE INITIALLY DEFERRED, query varchar(50) NOT NULL, count integer NOT NULL, last_visit timestamptz NOT NULL);
CREATE TABLE social_auth_usersocialauth (id bigint PRIMARY KEY, provider varchar(32) NOT NULL, uid varchar(255) NOT NULL, user_id integer NOT NULL REFERENCES zerver_userprofile DEFERRABLE INITIALLY DEFERRED);
""", zulip, edits=[
    edit("zerver_message.sender_id", "anonymize", f"sender_id = {USERS + 1}"),
    edit("zerver_usermessage.message_id", "keep"),
    edit("zerver_reaction.message_id", "keep"),
], reported=["zerver_message.content", "zerver_preregistrationuser.email", "zerver_recipient.type_id"], shared=[
    ("zerver_realm", [2, "trains", "Trains"]),
    ("zerver_userprofile", [USERS + 1, 2, "gone@zulip.example", "none@zulip.example", "Gone", DATE]),
] + [("zerver_recipient", [k + 2001, k, 2]) for k in range(9)])


def redmine(n):
    m = beside(n)
    yield "users", n, [i(n), l(n), first(n), name(n), "User", DATE]
    yield "email_addresses", n, [n, i(n), e(n), "t", DATE]
    yield "user_preferences", n, [n, i(n), "---"]
    yield "members", n, [n, i(n), n % 9 + 1, DATE]
    yield "issues", n, [n, n % 9 + 1, "Brakes squeak", i(n), i(m), DATE]
    yield "journals", m, [n, n, "Issue", i(m), "Done", DATE]
    yield "journal_details", m, [n, n, "attr", "assigned_to_id", "NULL", i(n)]
    yield "watchers", m, [n, "Issue", n, i(m)]
    yield "time_entries", n, [n, n % 9 + 1, i(n), i(m), n, 2, "", DATE]
    yield "tokens", n, [n, i(n), "session", f"t{n * 99991}", DATE]
    yield "attachments", n, [n, n, "Issue", "train.png", i(n), DATE]
    yield "messages", n, [n, 1, "NULL", "Trains", "Hello", i(n), DATE]
    yield "messages", m, [USERS + n, 1, n, "Trains", "Yes", i(m), DATE]
    yield "changesets", None, [n, 1, f"r{n}", Of(n, f"{login(n)} <{login(n)}@mail.example>"), i(n), DATE]
    yield "wiki_content_versions", None, [n, n % 9 + 1, i(n), "Text", DATE]


REDMINE = App("Redmine", "postgresql", "users.id", """
CREATE TABLE users (id integer PRIMARY KEY, login varchar NOT NULL, firstname varchar(30) NOT NULL, lastname varchar(255) NOT NULL, type varchar, created_on timestamp);
CREATE TABLE email_addresses (id integer PRIMARY KEY, user_id integer NOT NULL, address varchar NOT NULL, is_default boolean NOT NULL, created_on timestamp NOT NULL);
CREATE TABLE user_preferences (id integer PRIMARY KEY, user_id integer NOT NULL, others text);
CREATE TABLE projects (id integer PRIMARY KEY, name varchar NOT NULL);
CREATE TABLE members (id integer PRIMARY KEY, user_id integer NOT NULL, project_id integer NOT NULL, created_on timestamp);
CREATE TABLE issues (id integer PRIMARY KEY, project_id integer NOT NULL, subject varchar NOT NULL, author_id integer NOT NULL, assigned_to_id integer, created_on timestamp);
CREATE TABLE journals (id integer PRIMARY KEY, journalized_id integer NOT NULL, journalized_type varchar(30) NOT NULL, user_id integer NOT NULL, notes text, created_on timestamp NOT NULL);
CREATE TABLE journal_details (id integer PRIMARY KEY, journal_id integer NOT NULL, property varchar(30) NOT NULL, prop_key varchar(30) NOT NULL, old_value text, value text);
CREATE TABLE watchers (id integer PRIMARY KEY, watchable_type varchar NOT NULL, watchable_id integer NOT NULL, user_id integer);
CREATE TABLE time_entries (id integer PRIMARY KEY, project_id integer NOT NULL, user_id integer NOT NULL, author_id integer, issue_id integer, hours float NOT NULL, comments varchar(1024), created_on timestamp NOT NULL);
CREATE TABLE tokens (id integer PRIMARY KEY, user_id integer NOT NULL, action varchar(30) NOT NULL, value varchar(40) NOT NULL UNIQUE, created_on timestamp NOT NULL);
CREATE TABLE attachments (id integer PRIMARY KEY, container_id integer, container_type varchar(30), filename varchar NOT NULL, author_id integer NOT NULL, created_on timestamp);
CREATE TABLE messages (id integer PRIMARY KEY, board_id integer NOT NULL, parent_id integer, subject varchar NOT NULL, content text, author_id integer, created_on timestamp NOT NULL);
CREATE TABLE changesets (id integer PRIMARY KEY, repository_id integer NOT NULL, revision varchar NOT NULL, committer varchar, user_id integer, committed_on timestamp NOT NULL);
CREATE TABLE wiki_content_versions (id integer PRIMARY KEY, page_id integer NOT NULL, author_id integer, data text, updated_on timestamp NOT NULL);
""", redmine, edits=[
    edit("changesets.user_id", "anonymize", "user_id", "committer"),
    edit("wiki_content_versions.author_id", "anonymize", "author_id"),
], reported=["issues.assigned_to_id", "journal_details.value"], shared=[("projects", [k, f"Line {k}"]) for k in range(1, 10)])


def moodle(n):
    m, o = beside(n), beside(n, 7)
    yield "mdl_user", n, [i(n), l(n), e(n), first(n), name(n), UNIX, ip(n)]
    yield "mdl_user_enrolments", n, [n, 0, n % 9 + 1, i(n), UNIX, i(o)]
    yield "mdl_role_assignments", n, [n, 5, n % 9 + 1, i(n), i(o), UNIX]
    yield "mdl_forum_discussions", n, [n, n % 9 + 1, 1, "Trains", n, i(n), i(n)]
    yield "mdl_forum_posts", n, [n, n, 0, i(n), UNIX, "Trains", "Hello"]
    yield "mdl_forum_posts", m, [USERS + n, n, n, i(m), UNIX, "Re", "Yes"]
    yield "mdl_grade_grades", n, [n, n % 9 + 1, i(n), 80, i(o)]
    yield "mdl_logstore_standard_log", n, [n, "viewed", i(n), i(m), ip(n), UNIX]
    yield "mdl_message_conversation_members", n, [n, n, i(n), UNIX]
    yield "mdl_message_conversation_members", m, [USERS + n, n, i(m), UNIX]
    yield "mdl_messages", n, [n, i(n), n, "Hello", UNIX]
    yield "mdl_user_preferences", n, [n, i(n), "theme", "dark"]
    yield "mdl_files", n, [n, f"{n * 99991:040x}", i(n), name(n), "train.png", UNIX]
    yield "mdl_sessions", n, [n, f"s{n * 99991}", i(n), ip(n), UNIX]
    yield "mdl_config_log", None, [n, i(n), UNIX, "theme"]


MOODLE = App("Moodle", "mysql", "mdl_user.id", """
CREATE TABLE mdl_user (id bigint PRIMARY KEY, username varchar(100) NOT NULL UNIQUE, email varchar(100) NOT NULL, firstname varchar(100) NOT NULL, lastname varchar(100) NOT NULL, timecreated bigint NOT NULL, lastip varchar(45) NOT NULL);
CREATE TABLE mdl_user_enrolments (id bigint PRIMARY KEY, status bigint NOT NULL, enrolid bigint NOT NULL, userid bigint NOT NULL, timecreated bigint NOT NULL, modifierid bigint NOT NULL);
CREATE TABLE mdl_role_assignments (id bigint PRIMARY KEY, roleid bigint NOT NULL, contextid bigint NOT NULL, userid bigint NOT NULL, modifierid bigint NOT NULL, timemodified bigint NOT NULL);
CREATE TABLE mdl_forum_discussions (id bigint PRIMARY KEY, course bigint NOT NULL, forum bigint NOT NULL, name varchar(255) NOT NULL, firstpost bigint NOT NULL, userid bigint NOT NULL, usermodified bigint NOT NULL);
CREATE TABLE mdl_forum_posts (id bigint PRIMARY KEY, discussion bigint NOT NULL, parent bigint NOT NULL, userid bigint NOT NULL, created bigint NOT NULL, subject varchar(255) NOT NULL, message longtext NOT NULL);
CREATE TABLE mdl_grade_grades (id bigint PRIMARY KEY, itemid bigint NOT NULL, userid bigint NOT NULL, finalgrade decimal(10, 5), usermodified bigint);
CREATE TABLE mdl_logstore_standard_log (id bigint PRIMARY KEY, eventname varchar(255) NOT NULL, userid bigint NOT NULL, relateduserid bigint, ip varchar(45), timecreated bigint NOT NULL);
CREATE TABLE mdl_message_conversation_members (id bigint PRIMARY KEY, conversationid bigint NOT NULL, userid bigint NOT NULL, timecreated bigint NOT NULL);
CREATE TABLE mdl_messages (id bigint PRIMARY KEY, useridfrom bigint NOT NULL, conversationid bigint NOT NULL, fullmessage longtext, timecreated bigint NOT NULL);
CREATE TABLE mdl_user_preferences (id bigint PRIMARY KEY, userid bigint NOT NULL, name varchar(255) NOT NULL, value varchar(1333) NOT NULL);
CREATE TABLE mdl_files (id bigint PRIMARY KEY, contenthash varchar(40) NOT NULL, userid bigint, author varchar(255), filename varchar(255) NOT NULL, timecreated bigint NOT NULL);
CREATE TABLE mdl_sessions (id bigint PRIMARY KEY, sid varchar(128) NOT NULL, userid bigint NOT NULL, firstip varchar(45), timecreated bigint NOT NULL);
CREATE TABLE mdl_config_log (id bigint PRIMARY KEY, userid bigint NOT NULL, timemodified bigint NOT NULL, name varchar(100) NOT NULL);
CREATE TABLE mdl_course (id bigint PRIMARY KEY, fullname varchar(254) NOT NULL);
""", moodle, edits=[
    edit("mdl_config_log.userid", "keep"),
], shared=[("mdl_course", [k, f"Course {k}"]) for k in range(1, 10)])


def bookstack(n):
    m = beside(n)
    yield "users", n, [i(n), name(n), e(n), DATE, l(n), 0]
    yield "role_user", n, [i(n), n % 3 + 1]
    yield "pages", n, [n, n % 9 + 1, "Trains", "Hello", i(n), i(m), i(n), DATE]
    yield "page_revisions", n, [n, n, "Trains", "Hello", i(n), DATE]
    yield "page_revisions", m, [USERS + n, n, "Trains", "Hello!", i(m), DATE]
    yield "comments", m, [n, n, "page", "Nice", i(m), i(m), DATE]
    yield "activities", n, [n, "page_create", i(n), "page", n, Of(n, f"({n}) {FIRST[n % 10]} {LAST[n % 11]} the {n}th"), ip(n), DATE]
    yield "favourites", m, [n, i(m), n, "page", DATE]
    yield "views", m, [n, i(m), n, "page", 3, DATE]
    yield "sessions", n, [f"s{n * 99991}", i(n), ip(n), "x"]
    yield "social_accounts", n, [n, i(n), "google", Of(n, f"1{n * 99991:020}"), DATE]
    yield "api_tokens", n, [n, "laptop", f"t{n * 99991}", i(n), DATE]
    yield "attachments", n, [n, "Plan", "plan.pdf", n, i(n), i(m), DATE]
    yield "images", n, [n, "train", "/train.png", i(n), i(m), n, DATE]


BOOKSTACK = App("BookStack", "mysql", "users.id", """
CREATE TABLE users (id int unsigned PRIMARY KEY, name varchar(191) NOT NULL, email varchar(191) NOT NULL UNIQUE, created_at timestamp NULL, slug varchar(180) NOT NULL UNIQUE, image_id int NOT NULL DEFAULT 0);
CREATE TABLE roles (id int unsigned PRIMARY KEY, display_name varchar(180));
CREATE TABLE role_user (user_id int unsigned NOT NULL, role_id int unsigned NOT NULL, PRIMARY KEY (user_id, role_id), FOREIGN KEY (user_id) REFERENCES users (id) ON DELETE CASCADE ON UPDATE CASCADE, FOREIGN KEY (role_id) REFERENCES roles (id) ON DELETE CASCADE ON UPDATE CASCADE);
CREATE TABLE books (id int unsigned PRIMARY KEY, name varchar(191) NOT NULL, created_by int, updated_by int, owned_by int unsigned);
CREATE TABLE pages (id int unsigned PRIMARY KEY, book_id int NOT NULL, name varchar(191) NOT NULL, html longtext NOT NULL, created_by int NOT NULL, updated_by int NOT NULL, owned_by int unsigned NOT NULL, created_at timestamp NULL);
CREATE TABLE page_revisions (id int unsigned PRIMARY KEY, page_id int NOT NULL, name varchar(191) NOT NULL, html longtext NOT NULL, created_by int NOT NULL, created_at timestamp NULL);
CREATE TABLE comments (id int unsigned PRIMARY KEY, entity_id int unsigned NOT NULL, entity_type varchar(191) NOT NULL, html longtext, created_by int unsigned NOT NULL, updated_by int unsigned, created_at timestamp NULL);
CREATE TABLE activities (id int unsigned PRIMARY KEY, type varchar(191) NOT NULL, user_id int NOT NULL, loggable_type varchar(191), loggable_id int, detail text, ip varchar(45) NOT NULL, created_at timestamp NULL);
CREATE TABLE favourites (id int unsigned PRIMARY KEY, user_id int NOT NULL, favouritable_id int NOT NULL, favouritable_type varchar(100) NOT NULL, created_at timestamp NULL);
CREATE TABLE views (id int unsigned PRIMARY KEY, user_id int NOT NULL, viewable_id int NOT NULL, viewable_type varchar(191) NOT NULL, views int NOT NULL, created_at timestamp NULL);
CREATE TABLE sessions (id varchar(191) PRIMARY KEY, user_id int, ip_address varchar(45), payload text NOT NULL);
CREATE TABLE social_accounts (id int unsigned PRIMARY KEY, user_id int NOT NULL, driver varchar(191) NOT NULL, driver_id varchar(191) NOT NULL, created_at timestamp NULL);
CREATE TABLE api_tokens (id int unsigned PRIMARY KEY, name varchar(191) NOT NULL, token_id varchar(191) NOT NULL UNIQUE, user_id int unsigned NOT NULL, created_at timestamp NULL);
CREATE TABLE attachments (id int unsigned PRIMARY KEY, name varchar(191) NOT NULL, path text NOT NULL, uploaded_to int NOT NULL, created_by int NOT NULL, updated_by int NOT NULL, created_at timestamp NULL);
CREATE TABLE images (id int unsigned PRIMARY KEY, name varchar(191) NOT NULL, url varchar(191) NOT NULL, created_by int NOT NULL, updated_by int NOT NULL, uploaded_to int NOT NULL, created_at timestamp NULL);
""", bookstack, edits=[
    edit(f"{table}.created_by", "delete")
    for table in ("page_revisions", "comments", "attachments", "images")
], shared=[("roles", [k, f"Role {k}"]) for k in range(1, 4)]
    + [("books", [k, f"Line {k}", "NULL", "NULL", "NULL"]) for k in range(1, 10)])


def ghost(n):
    m = beside(n)
    u, v = Of(n, hexed(1, n)), Of(m, hexed(1, m))
    uuid = Of(n, f"0b5e{n:04x}-1d2c-4f3e-8a9b-{n * 99991:012x}")
    yield "members", n, [u, uuid, e(n), name(n), DATE]
    yield "members_subscribe_events", n, [hexed(2, n), u, 1, "member", DATE]
    yield "members_email_change_events", n, [hexed(3, n), u, e(n), Of(n, f"old{login(n)}@mail.example"), DATE]
    yield "members_newsletters", n, [hexed(4, n), u, hexed(90, 1)]
    yield "members_stripe_customers", n, [hexed(5, n), u, Of(n, f"cus_{n * 99991:x}"), name(n), e(n), DATE]
    yield "members_stripe_customers_subscriptions", n, [hexed(6, n), Of(n, f"cus_{n * 99991:x}"), f"sub_{n * 7919:x}", "active"]
    yield "comments", n, [hexed(7, n), hexed(91, n % 9), u, "NULL", "Hello", DATE]
    yield "comments", m, [hexed(8, n), hexed(91, n % 9), v, hexed(7, n), "Yes", DATE]
    yield "comment_likes", m, [hexed(9, n), hexed(7, n), v, DATE]
    yield "email_recipients", n, [hexed(10, n), hexed(92, 1), u, uuid, e(n), name(n)]
    yield "donation_payment_events", n, [hexed(11, n), name(n), e(n), u, 500, DATE]
    yield "tokens", n, [hexed(12, n), f"tok{n * 99991}", Of(n, f'{{"email":"{login(n)}@mail.example","attribution":{{}}}}'), DATE]
    yield "suppressions", n, [hexed(13, n), e(n), "bounce", DATE]


GHOST = App("Ghost", "mysql", "members.id", """
CREATE TABLE members (id varchar(24) PRIMARY KEY, uuid varchar(36) UNIQUE, email varchar(191) NOT NULL UNIQUE, name varchar(191), created_at datetime NOT NULL);
CREATE TABLE posts (id varchar(24) PRIMARY KEY, title varchar(2000) NOT NULL, created_at datetime NOT NULL);
CREATE TABLE newsletters (id varchar(24) PRIMARY KEY, name varchar(191) NOT NULL);
CREATE TABLE members_subscribe_events (id varchar(24) PRIMARY KEY, member_id varchar(24) NOT NULL, subscribed tinyint NOT NULL, source varchar(50), created_at datetime NOT NULL, FOREIGN KEY (member_id) REFERENCES members (id) ON DELETE CASCADE);
CREATE TABLE members_email_change_events (id varchar(24) PRIMARY KEY, member_id varchar(24) NOT NULL, to_email varchar(191) NOT NULL, from_email varchar(191) NOT NULL, created_at datetime NOT NULL, FOREIGN KEY (member_id) REFERENCES members (id) ON DELETE CASCADE);
CREATE TABLE members_newsletters (id varchar(24) PRIMARY KEY, member_id varchar(24) NOT NULL, newsletter_id varchar(24) NOT NULL, FOREIGN KEY (member_id) REFERENCES members (id) ON DELETE CASCADE, FOREIGN KEY (newsletter_id) REFERENCES newsletters (id) ON DELETE CASCADE);
CREATE TABLE members_stripe_customers (id varchar(24) PRIMARY KEY, member_id varchar(24) NOT NULL, customer_id varchar(255) NOT NULL UNIQUE, name varchar(191), email varchar(191), created_at datetime NOT NULL, FOREIGN KEY (member_id) REFERENCES members (id) ON DELETE CASCADE);
CREATE TABLE members_stripe_customers_subscriptions (id varchar(24) PRIMARY KEY, customer_id varchar(255) NOT NULL, subscription_id varchar(255) NOT NULL UNIQUE, status varchar(50) NOT NULL, FOREIGN KEY (customer_id) REFERENCES members_stripe_customers (customer_id) ON DELETE CASCADE);
CREATE TABLE comments (id varchar(24) PRIMARY KEY, post_id varchar(24) NOT NULL, member_id varchar(24), parent_id varchar(24), html longtext, created_at datetime NOT NULL, FOREIGN KEY (post_id) REFERENCES posts (id) ON DELETE CASCADE, FOREIGN KEY (member_id) REFERENCES members (id) ON DELETE SET NULL, FOREIGN KEY (parent_id) REFERENCES comments (id) ON DELETE CASCADE);
CREATE TABLE comment_likes (id varchar(24) PRIMARY KEY, comment_id varchar(24) NOT NULL, member_id varchar(24), created_at datetime NOT NULL, FOREIGN KEY (comment_id) REFERENCES comments (id) ON DELETE CASCADE, FOREIGN KEY (member_id) REFERENCES members (id) ON DELETE CASCADE);
CREATE TABLE email_recipients (id varchar(24) PRIMARY KEY, email_id varchar(24) NOT NULL, member_id varchar(24) NOT NULL, member_uuid varchar(36) NOT NULL, member_email varchar(191) NOT NULL, member_name varchar(191));
CREATE TABLE donation_payment_events (id varchar(24) PRIMARY KEY, name varchar(191), email varchar(191) NOT NULL, member_id varchar(24), amount int NOT NULL, created_at datetime NOT NULL, FOREIGN KEY (member_id) REFERENCES members (id) ON DELETE SET NULL);
CREATE TABLE tokens (id varchar(24) PRIMARY KEY, token varchar(32) NOT NULL, data varchar(2000), created_at datetime NOT NULL);
CREATE TABLE suppressions (id varchar(24) PRIMARY KEY, email varchar(191) NOT NULL UNIQUE, reason varchar(50) NOT NULL, created_at datetime NOT NULL);
""", ghost, edits=[
    edit("donation_payment_events.member_id", "delete"),
], identity=lambda n: hexed(1, n), shared=[("newsletters", [hexed(90, 1), "Trains"])]
    + [("posts", [hexed(91, k), f"Line {k}", DATE]) for k in range(9)])


def firefly(n):
    m = beside(n)
    yield "users", n, [i(n), e(n), DATE]
    yield "user_groups", n, [n, e(n)]
    yield "group_memberships", n, [n, i(n), n, 1]
    yield "accounts", n, [n, i(n), n, "Checking", Of(n, f"NO93{n:011}"), DATE]
    yield "transaction_journals", n, [n, i(n), n, "Rent", DATE]
    yield "transactions", n, [n, n, n, 100]
    yield "budgets", n, [n, i(n), n, "Food", DATE]
    yield "preferences", n, [n, i(n), "language", '"en_US"']
    yield "attachments", n, [n, i(n), n, "TransactionJournal", "bill.pdf", DATE]
    yield "notes", n, [n, n, "TransactionJournal", "Ask again", DATE]
    yield "oauth_access_tokens", n, [f"a{n * 99991}", i(n), 1, "laptop", DATE]
    yield "sessions", n, [f"s{n * 99991}", i(n), ip(n), "x"]
    yield "invited_users", n, [n, i(n), Of(m, f"{login(m)}@mail.example"), f"c{n * 99991}", 1, DATE]
    yield "audit_log_entries", n, [n, n, "TransactionJournal", i(n), "User", "update", DATE]


FIREFLY = App("Firefly III", "mysql", "users.id", """
CREATE TABLE users (id int unsigned PRIMARY KEY, email varchar(255) NOT NULL, created_at timestamp NULL);
CREATE TABLE user_groups (id bigint unsigned PRIMARY KEY, title varchar(255) NOT NULL);
CREATE TABLE group_memberships (id bigint unsigned PRIMARY KEY, user_id int unsigned NOT NULL, user_group_id bigint unsigned NOT NULL, user_role_id bigint unsigned NOT NULL, FOREIGN KEY (user_id) REFERENCES users (id) ON DELETE CASCADE ON UPDATE CASCADE, FOREIGN KEY (user_group_id) REFERENCES user_groups (id) ON DELETE CASCADE ON UPDATE CASCADE);
CREATE TABLE accounts (id int unsigned PRIMARY KEY, user_id int unsigned NOT NULL, user_group_id bigint unsigned, name varchar(1024) NOT NULL, iban varchar(255), created_at timestamp NULL, FOREIGN KEY (user_id) REFERENCES users (id) ON DELETE CASCADE);
CREATE TABLE transaction_journals (id int unsigned PRIMARY KEY, user_id int unsigned NOT NULL, user_group_id bigint unsigned, description varchar(1024) NOT NULL, date datetime NOT NULL, FOREIGN KEY (user_id) REFERENCES users (id) ON DELETE CASCADE);
CREATE TABLE transactions (id int unsigned PRIMARY KEY, account_id int unsigned NOT NULL, transaction_journal_id int unsigned NOT NULL, amount decimal(32, 12) NOT NULL, FOREIGN KEY (account_id) REFERENCES accounts (id) ON DELETE CASCADE, FOREIGN KEY (transaction_journal_id) REFERENCES transaction_journals (id) ON DELETE CASCADE);
CREATE TABLE budgets (id int unsigned PRIMARY KEY, user_id int unsigned NOT NULL, user_group_id bigint unsigned, name varchar(1024) NOT NULL, created_at timestamp NULL, FOREIGN KEY (user_id) REFERENCES users (id) ON DELETE CASCADE);
CREATE TABLE preferences (id int unsigned PRIMARY KEY, user_id int unsigned NOT NULL, name varchar(1024) NOT NULL, data text NOT NULL, FOREIGN KEY (user_id) REFERENCES users (id) ON DELETE CASCADE);
CREATE TABLE attachments (id int unsigned PRIMARY KEY, user_id int unsigned NOT NULL, attachable_id int unsigned NOT NULL, attachable_type varchar(255) NOT NULL, filename varchar(1024) NOT NULL, created_at timestamp NULL, FOREIGN KEY (user_id) REFERENCES users (id) ON DELETE CASCADE);
CREATE TABLE notes (id int unsigned PRIMARY KEY, noteable_id int unsigned NOT NULL, noteable_type varchar(191) NOT NULL, text text, created_at timestamp NULL);
CREATE TABLE oauth_access_tokens (id varchar(100) PRIMARY KEY, user_id int, client_id int NOT NULL, name varchar(255), created_at timestamp NULL);
CREATE TABLE sessions (id varchar(191) PRIMARY KEY, user_id int unsigned, ip_address varchar(45), payload text NOT NULL);
CREATE TABLE invited_users (id bigint unsigned PRIMARY KEY, user_id int unsigned NOT NULL, email varchar(255) NOT NULL, invite_code varchar(64) NOT NULL, redeemed tinyint NOT NULL, created_at timestamp NULL, FOREIGN KEY (user_id) REFERENCES users (id) ON DELETE CASCADE);
CREATE TABLE audit_log_entries (id bigint unsigned PRIMARY KEY, auditable_id int unsigned NOT NULL, auditable_type varchar(191) NOT NULL, changer_id int unsigned NOT NULL, changer_type varchar(191) NOT NULL, action varchar(255) NOT NULL, created_at timestamp NULL);
""", firefly, reported=["invited_users.email"])

APPS = [DISCOURSE, MATTERMOST, ZULIP, REDMINE, MOODLE, BOOKSTACK, GHOST, FIREFLY]
