-- What calls of models came to, by day and model: what ai.usage tells.
CREATE TABLE ai.model_day (
  account_id text COLLATE "C" NOT NULL,
  -- its start, UTC
  day timestamptz NOT NULL,
  capability text COLLATE "C" NOT NULL,
  -- vendor/model that answered
  model text COLLATE "C" NOT NULL,
  calls bigint NOT NULL,
  input_tokens bigint NOT NULL,
  output_tokens bigint NOT NULL,
  spend_nanos bigint NOT NULL,
  PRIMARY KEY (account_id, day, capability, model)
) WITH (fillfactor = 70);
CREATE INDEX model_day_age ON ai.model_day (day);

SELECT core.distribute();
