-- Push subscriptions of queues: messages are POSTed to a URL instead of being consumed.

CREATE TABLE queue.subscription (
  account_id text COLLATE "C" NOT NULL,
  subscription_id text COLLATE "C" NOT NULL,
  queue_id bigint NOT NULL,
  url text NOT NULL,
  -- encrypted JSON object; null without custom headers
  headers bytea,
  -- encrypted signing secret
  secret bytea NOT NULL,
  secret_last4 text NOT NULL,
  -- seconds; null: the queue's own, at least as long as an attempt may take
  visibility_timeout integer,
  max_in_flight smallint NOT NULL,
  created_at timestamptz NOT NULL,
  -- the process that pushes now, for as long as it renews this; real time, not clock_now()
  holder text NOT NULL DEFAULT '',
  lease_until timestamptz NOT NULL DEFAULT '-infinity',
  PRIMARY KEY (account_id, subscription_id)
) WITH (fillfactor = 70);
CREATE INDEX subscription_by_queue ON queue.subscription (account_id, queue_id, subscription_id);
