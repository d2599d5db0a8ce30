-- DNS: zones at name servers of others. Their records are read and changed there, and none of them stands in dns.record.

-- vendor: `embedded`, or an entry of the operator's file. name_servers: those of a zone at a vendor when it was created; JSON, a list of texts.
ALTER TABLE dns.zone
  ADD COLUMN vendor text COLLATE "C" NOT NULL DEFAULT 'embedded',
  ADD COLUMN name_servers text;

-- Whether the name servers of this service answer for it.
ALTER TABLE dns.zone_name ADD COLUMN is_embedded boolean NOT NULL DEFAULT true;
