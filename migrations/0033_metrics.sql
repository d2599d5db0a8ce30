-- Metrics: series by name and labels, beside the blocks of their samples.

CREATE SCHEMA metrics;
