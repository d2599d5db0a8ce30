-- Schema risk.

CREATE SCHEMA risk;
