-- What a rule file of Prometheus says of an alert beside the rest: a longer text, and how long it fires on.
ALTER TABLE alerts.rule ADD COLUMN details text;
ALTER TABLE alerts.rule ADD COLUMN keep_firing_seconds integer NOT NULL DEFAULT 0;
