-- The database of an application with two users, for expunged.toml beside this file.
CREATE TABLE IF NOT EXISTS users (id TEXT PRIMARY KEY, email TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS posts (
    id INTEGER PRIMARY KEY,
    author_id TEXT NOT NULL REFERENCES users (id),
    body TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS posts_author ON posts (author_id);
INSERT OR REPLACE INTO users VALUES ('alice', 'alice@example.com'), ('bob', 'bob@example.com');
INSERT OR REPLACE INTO posts VALUES (1, 'alice', 'Hello'), (2, 'alice', 'Goodbye'), (3, 'bob', 'Hi');
