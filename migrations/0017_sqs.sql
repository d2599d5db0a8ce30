-- Queues for clients of Amazon SQS, which have retention in seconds and sizes in bytes.
ALTER TABLE queue.queue
  -- exactly; null: message_retention_days and max_message_size_kb, which are these rounded up, say it
  ADD COLUMN retention_seconds integer,
  ADD COLUMN max_message_bytes integer,
  -- the name as a client of SQS spelled it; null: made natively
  ADD COLUMN sqs_name text COLLATE "C",
  -- JSON {attributes, tags}: what only SQS has; null: nothing
  ADD COLUMN sqs_settings text;

-- JSON: what of a message only SQS has; null: nothing, it is as if published natively
ALTER TABLE queue.message ADD COLUMN sqs text;
