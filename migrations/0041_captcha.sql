-- Captcha: solutions that have counted, and how many verifications found what.

CREATE SCHEMA captcha;

-- A solution counts once. Its row is kept until the challenge has expired, when no solution of it counts any more.
CREATE TABLE captcha.spent (
  account_id text COLLATE "C" NOT NULL,
  challenge_id text COLLATE "C" NOT NULL,
  expires_at timestamptz NOT NULL,
  PRIMARY KEY (account_id, challenge_id)
);
CREATE INDEX spent_expires ON captcha.spent (expires_at);

-- day: its beginning, UTC. reason: what verify answers.
CREATE TABLE captcha.tally (
  account_id text COLLATE "C" NOT NULL,
  day timestamptz NOT NULL,
  reason text COLLATE "C" NOT NULL,
  verifications bigint NOT NULL,
  PRIMARY KEY (account_id, day, reason)
);
CREATE INDEX tally_day ON captcha.tally (day);

SELECT core.distribute();
