-- Analytics: people and the names they are known by, beside the blocks of events.

CREATE SCHEMA analytics;
