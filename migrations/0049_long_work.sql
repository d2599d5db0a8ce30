-- Work that takes minutes: how long a receiver may take. Schedules call URLs, queues and capabilities, and try failed runs again.
ALTER TABLE queue.subscription ADD COLUMN timeout_seconds smallint NOT NULL DEFAULT 15;
ALTER TABLE core.webhook ADD COLUMN timeout_seconds smallint NOT NULL DEFAULT 15;
ALTER TABLE cron.job
  ADD COLUMN timeout_seconds smallint NOT NULL DEFAULT 15,
  ADD COLUMN retries smallint NOT NULL DEFAULT 0,
  -- what it calls, queue.publish for a queue; null: the URL
  ADD COLUMN capability text COLLATE "C",
  -- the queue, where the target is one
  ADD COLUMN queue text COLLATE "C",
  -- the key that it calls as; null: the URL needs none
  ADD COLUMN run_as text COLLATE "C";
ALTER TABLE cron.run
  ADD COLUMN timeout_seconds smallint NOT NULL DEFAULT 15,
  ADD COLUMN retries smallint NOT NULL DEFAULT 0,
  -- attempts that failed: what is beyond them in `attempt` died with its process
  ADD COLUMN failures smallint NOT NULL DEFAULT 0;
CREATE INDEX job_due_long ON cron.job (account_id, next_run_at, job_id) WHERE next_run_at IS NOT NULL AND timeout_seconds > 15;
CREATE INDEX run_lease_long ON cron.run (account_id, lease_until) WHERE lease_until IS NOT NULL AND timeout_seconds > 15;
