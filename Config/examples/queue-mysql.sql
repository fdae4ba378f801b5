-- A queue of expunged in a database of the application (MySQL 8 or MariaDB 10.11 or later).
--
--   mariadb DATABASE < queue-mysql.sql
--
-- The user of the service needs these rights and no others:
--
--   GRANT SELECT ON DATABASE.expunged_meta TO 'expunged_queue'@'localhost';
--   GRANT SELECT, UPDATE ON DATABASE.expunged_requests TO 'expunged_queue'@'localhost';
--   GRANT SELECT, UPDATE ON DATABASE.expunged_credentials TO 'expunged_queue'@'localhost';

CREATE TABLE expunged_meta (
  version  INT NOT NULL,
  queue_id VARCHAR(64) NOT NULL
) ENGINE = InnoDB CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;
INSERT INTO expunged_meta VALUES (1, REPLACE(UUID(), '-', ''));

CREATE TABLE expunged_requests (
  id              BIGINT AUTO_INCREMENT PRIMARY KEY,
  kind            VARCHAR(32) NOT NULL CHECK (kind IN ('delete_account', 'revoke_tokens')),
  user_id         VARCHAR(255) NOT NULL
                    CHECK (OCTET_LENGTH(user_id) BETWEEN 1 AND 255
                      AND NOT user_id REGEXP '[[:cntrl:]]'),
  idempotency_key VARCHAR(255) UNIQUE,
  options         VARCHAR(4096) NOT NULL DEFAULT '{}'
                    CHECK (JSON_VALID(options) AND JSON_TYPE(options) = 'OBJECT'),
  created_at      VARCHAR(40) NOT NULL
                    DEFAULT (DATE_FORMAT(UTC_TIMESTAMP(3), '%Y-%m-%dT%H:%i:%s.%fZ')),
  -- output only, written by expunged, never read back:
  request_id      VARCHAR(64),
  state           VARCHAR(32) NOT NULL DEFAULT 'submitted',
  detail          VARCHAR(255),
  updated_at      VARCHAR(40),
  KEY requests_state (state, id)
) ENGINE = InnoDB CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE expunged_credentials (  -- inbox: sealed into the vault, then scrubbed
  id            BIGINT AUTO_INCREMENT PRIMARY KEY,
  user_id       VARCHAR(255) NOT NULL
                  CHECK (OCTET_LENGTH(user_id) BETWEEN 1 AND 255
                    AND NOT user_id REGEXP '[[:cntrl:]]'),
  provider      VARCHAR(64) NOT NULL,
  client_id     VARCHAR(2048),       -- required when the provider has several
  subject       VARCHAR(2048),
  kind          VARCHAR(32) NOT NULL
                  CHECK (kind IN ('authorization_code', 'refresh_token', 'access_token', 'id_token',
                                  'subject')),
  secret        TEXT CHECK (CHAR_LENGTH(secret) <= 8192),
  redirect_uri  TEXT,
  code_verifier TEXT,
  raw_nonce     TEXT,
  created_at    VARCHAR(40) NOT NULL
                  DEFAULT (DATE_FORMAT(UTC_TIMESTAMP(3), '%Y-%m-%dT%H:%i:%s.%fZ')),
  state         VARCHAR(32) NOT NULL DEFAULT 'submitted',  -- sealed, rejected: output only
  detail        VARCHAR(255),
  KEY credentials_state (state, id)
) ENGINE = InnoDB CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;
