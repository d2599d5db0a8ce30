-- Queues for clients of Amazon SQS, which have retention in seconds and sizes in bytes.
ALTER TABLE queue.queue
  ADD COLUMN retention_seconds integer,
  ADD COLUMN max_message_bytes integer,
  -- the name as a client of SQS spelled it; null: made natively
  ADD COLUMN sqs_name text COLLATE "C",
  -- JSON {attributes, tags}: what only SQS has; null: nothing
  ADD COLUMN sqs_settings text;
UPDATE queue.queue SET retention_seconds = message_retention_days * 86400, max_message_bytes = max_message_size_kb * 1024;
ALTER TABLE queue.queue
  ALTER COLUMN retention_seconds SET NOT NULL,
  ALTER COLUMN max_message_bytes SET NOT NULL,
  DROP COLUMN message_retention_days,
  DROP COLUMN max_message_size_kb;

-- JSON: what of a message only SQS has; null: nothing, it is as if published natively
ALTER TABLE queue.message ADD COLUMN sqs text;
