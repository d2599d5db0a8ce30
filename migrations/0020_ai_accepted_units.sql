-- Until now module ai charged tokens without counting them as accepted. The usage, which agrees with the ledger and is kept for good, says how many.
INSERT INTO core.accepted_units AS a (account_id, capability, units)
SELECT u.account_id, u.capability, sum(u.units)::bigint
  FROM core.usage_hour u
 WHERE u.capability IN ('ai.chat', 'ai.embed')
 GROUP BY u.account_id, u.capability
HAVING sum(u.units) > 0
    ON CONFLICT (account_id, capability) DO UPDATE SET units = excluded.units;
