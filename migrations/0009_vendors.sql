-- Outside vendors: whether they answer, what was sent to them, and what they cost beyond what callers paid.

-- One row per vendor and capability that once failed. state: closed, open, half_open (one call is trying it).
-- retry_at: closed: no call until then, for the vendor asked for it; open: from then on one call may try; half_open: from then on that
-- call counts as lost. openings: how often it opened in a row.
CREATE TABLE core.vendor_health (
  vendor text COLLATE "C" NOT NULL,
  capability text COLLATE "C" NOT NULL,
  state text NOT NULL,
  reason text,
  since timestamptz,
  retry_at timestamptz,
  openings integer NOT NULL DEFAULT 0,
  PRIMARY KEY (vendor, capability)
) WITH (fillfactor = 50);

-- Calls of the last half minute by second, as all processes have counted them.
CREATE TABLE core.vendor_calls (
  vendor text COLLATE "C" NOT NULL,
  capability text COLLATE "C" NOT NULL,
  second timestamptz NOT NULL,
  calls bigint NOT NULL,
  failures bigint NOT NULL,
  PRIMARY KEY (vendor, capability, second)
) WITH (fillfactor = 50);

-- What is to be told of a vendor that went down. told_through: the last account that has been told, in the order of their ids; null when all have.
CREATE TABLE core.vendor_notice (
  vendor text COLLATE "C" PRIMARY KEY,
  noticed_at timestamptz NOT NULL,
  data text NOT NULL,
  told_through text COLLATE "C"
);
