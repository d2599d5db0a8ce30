-- DNS: zones that the name server answers for, and their records.

CREATE SCHEMA dns;

-- serial: that of the SOA record; it grows with every change of a record.
CREATE TABLE dns.zone (
  account_id text COLLATE "C" NOT NULL,
  -- in lower case, as ASCII, without the last dot
  zone text COLLATE "C" NOT NULL,
  serial bigint NOT NULL,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  PRIMARY KEY (account_id, zone)
);

-- A record set: all values of one name and type.
CREATE TABLE dns.record (
  account_id text COLLATE "C" NOT NULL,
  zone text COLLATE "C" NOT NULL,
  -- the whole name, in lower case, without the last dot
  name text COLLATE "C" NOT NULL,
  type text COLLATE "C" NOT NULL,
  ttl integer NOT NULL,
  -- JSON: a list of texts
  content text NOT NULL,
  value_count integer NOT NULL,
  updated_at timestamptz NOT NULL,
  PRIMARY KEY (account_id, zone, name, type)
);

-- Whose a zone is: it exists once in the service, and questions come without an account. An empty account_id: nobody's any more.
-- domain: the registered domain that it lies in. revision: grows with every change of the zone. undelegated_since: for how long no name
-- server of the parent has named this service; null while one does. checked_at: when that was looked at last.
CREATE TABLE dns.zone_name (
  zone text COLLATE "C" PRIMARY KEY,
  account_id text COLLATE "C" NOT NULL,
  domain text COLLATE "C" NOT NULL,
  revision bigint NOT NULL,
  changed_at timestamptz NOT NULL,
  undelegated_since timestamptz,
  checked_at timestamptz NOT NULL
);
CREATE INDEX zone_name_changed ON dns.zone_name (changed_at);
CREATE INDEX zone_name_domain ON dns.zone_name (domain);
CREATE INDEX zone_name_checked ON dns.zone_name (checked_at);

-- Who adds zones below a registered domain takes turns by its row; account_id is who did so last.
CREATE TABLE dns.domain (
  domain text COLLATE "C" PRIMARY KEY,
  account_id text COLLATE "C" NOT NULL
);

SELECT core.distribute();
