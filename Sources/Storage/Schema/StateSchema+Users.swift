extension StateSchema {
    /// What the vault has of each user.
    ///
    /// Deleting a row of `users` destroys the data key and, by the cascade, all that it sealed.
    static let users = """
        CREATE TABLE users (
          id           INTEGER PRIMARY KEY,
          user_hash    BLOB NOT NULL UNIQUE CHECK (length(user_hash) = 32),
          wrapped_key  BLOB NOT NULL,  -- the user's data key, sealed under the vault key key_id
          key_id       TEXT NOT NULL,
          id_nonce     BLOB NOT NULL,
          sealed_id    BLOB NOT NULL,  -- the user id, for notifications that name only a subject
          signed_in_at INTEGER         -- the last sign-in with a known subject
        ) STRICT;
        CREATE INDEX users_key ON users (key_id);

        CREATE TABLE identities (
          id                    BLOB PRIMARY KEY CHECK (length(id) = 16),
          owner                 INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
          provider              TEXT NOT NULL,
          client_id             TEXT NOT NULL,
          subject_hash          BLOB,     -- the user's subject at the provider; NULL while unknown
          subject_nonce         BLOB,
          sealed_subject        BLOB,
          subject_first_seen_at INTEGER,  -- when a credential after the first one pinned it
          is_other_account      INTEGER NOT NULL DEFAULT 0,  -- it came beside the user's first
          had_others            INTEGER NOT NULL DEFAULT 0,  -- one at the client was forgotten
          link_cut_at           INTEGER,  -- when the provider reported the link as removed
          refused_credentials   INTEGER NOT NULL DEFAULT 0,
          created_at            INTEGER NOT NULL,
          updated_at            INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        CREATE UNIQUE INDEX identities_account
          ON identities (owner, provider, client_id, coalesce(subject_hash, x''));
        CREATE INDEX identities_subject ON identities (provider, subject_hash)
          WHERE subject_hash IS NOT NULL;

        CREATE TABLE credentials (
          id               INTEGER PRIMARY KEY AUTOINCREMENT,
          identity_id      BLOB NOT NULL REFERENCES identities (id) ON DELETE CASCADE,
          kind             TEXT NOT NULL CHECK (kind = 'authorization_code'
            OR kind = 'refresh_token' OR kind = 'access_token' OR kind = 'id_token'
            OR kind = 'subject'),
          row_nonce        BLOB NOT NULL,
          sealed_secret    BLOB,          -- NULL for a spent code
          sealed_code_verifier BLOB,
          redirect_uri     TEXT,
          fingerprint      BLOB NOT NULL,  -- keyed hash of the secret
          created_at       INTEGER NOT NULL,
          last_live_at     INTEGER,       -- the last answer that proved the token usable
          last_refresh_at  INTEGER,
          refresh_begun_at INTEGER,       -- a refresh that may have used the token up; NULL after
                                          -- the answer
          expires_at       INTEGER,
          is_from_code     INTEGER NOT NULL DEFAULT 0,  -- given out for a code of this client
          is_reauthorization INTEGER NOT NULL DEFAULT 0,  -- brings no account that is new
          is_subject_known INTEGER NOT NULL DEFAULT 0,  -- named with it; else of any account
          code_phase       TEXT CHECK (code_phase = 'pending' OR code_phase = 'exchanging'
            OR code_phase = 'exchanged' OR code_phase = 'refused' OR code_phase = 'unknown'
            OR code_phase = 'expired'),
          code_is_in_doubt INTEGER NOT NULL DEFAULT 0,  -- a wrong endpoint answered an exchange
          code_failures    INTEGER NOT NULL DEFAULT 0,
          code_answer      TEXT,           -- JSON: the last that brought no tokens
          UNIQUE (identity_id, fingerprint),
          CHECK ((kind = 'authorization_code') = (code_phase IS NOT NULL)),
          CHECK ((sealed_secret IS NULL) = (code_phase IS NOT NULL AND (code_phase = 'exchanged'
            OR code_phase = 'refused' OR code_phase = 'unknown' OR code_phase = 'expired')))
        ) STRICT;
        CREATE INDEX credentials_open_codes ON credentials (created_at)
          WHERE code_phase IN ('pending', 'exchanging');

        -- Tokens that expire unless they are used.
        CREATE TABLE renewals (
          credential_id INTEGER PRIMARY KEY REFERENCES credentials (id) ON DELETE CASCADE,
          provider      TEXT NOT NULL,
          due_at        INTEGER,  -- the next refresh; NULL for a token that is not refreshed
          warn_at       INTEGER,  -- when operators are warned, unless the token is used before
          warned_at     INTEGER,
          failures      INTEGER NOT NULL DEFAULT 0
        ) STRICT;
        CREATE INDEX renewals_due ON renewals (provider, due_at) WHERE due_at IS NOT NULL;
        CREATE INDEX renewals_warn ON renewals (provider, warn_at) WHERE warn_at IS NOT NULL;
        CREATE INDEX renewals_warned ON renewals (provider) WHERE warned_at IS NOT NULL;

        -- Id tokens that were used as a proof of a sign-in, until they have expired.
        CREATE TABLE sign_ins (
          fingerprint BLOB PRIMARY KEY,
          expires_at  INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX sign_ins_expiry ON sign_ins (expires_at);
        """
}
