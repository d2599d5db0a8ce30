-- Short calls that succeeded and are not in the request log: above so many a second it keeps a sample.
ALTER TABLE core.request_dropped ADD COLUMN sampled_out bigint NOT NULL DEFAULT 0;
