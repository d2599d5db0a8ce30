-- Answers of models that callers asked to be kept for the same request again.
CREATE SCHEMA ai;

CREATE TABLE ai.cached_answer (
  account_id text COLLATE "C" NOT NULL,
  -- of the model that was chosen and the canonical request
  digest text COLLATE "C" NOT NULL,
  -- encrypted for the account and the digest
  sealed bytea NOT NULL,
  expires_at timestamptz NOT NULL,
  PRIMARY KEY (account_id, digest)
);
CREATE INDEX cached_answer_expiry ON ai.cached_answer (expires_at);

SELECT core.distribute();
