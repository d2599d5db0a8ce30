import { describe, expect, it } from 'vitest';
import { checkSources, readSchema } from './check-sql.ts';
import { checkStatement } from './sql/rules.ts';

const DUMP = `
CREATE TABLE core.wallet (
  account_id text NOT NULL,
  CONSTRAINT wallet_pkey PRIMARY KEY (account_id)
) WITH (fillfactor=40);

CREATE TABLE queue.message (
  account_id text NOT NULL,
  CONSTRAINT message_pkey PRIMARY KEY (account_id, seq)
);

CREATE TABLE core.api_secret (
  secret_hash bytea NOT NULL,
  account_id text NOT NULL,
  CONSTRAINT api_secret_pkey PRIMARY KEY (secret_hash)
);
`;
const schema = readSchema(DUMP);
const rulesBroken = (sql: string) => checkStatement(sql, schema.accountTables).map(({ rule }) => rule);

describe('readSchema', () => {
  it('takes a table for an account table when account_id leads its primary key', () => {
    expect([...schema.tables]).toEqual(['core.wallet', 'queue.message', 'core.api_secret']);
    expect([...schema.accountTables]).toEqual(['core.wallet', 'queue.message']);
  });
});

describe('rule 2: every alias has its own account condition', () => {
  it.each([
    'SELECT 1 FROM core.wallet WHERE account_id = $1',
    'SELECT 1 FROM core.wallet WHERE account_id = ANY($1::text[]) FOR UPDATE',
    'SELECT 1 FROM core.wallet w WHERE $1 = w.account_id',
    'SELECT 1 FROM queue.message m JOIN core.wallet AS w ON w.account_id = $1 WHERE m.account_id = $1 AND m.account_id = w.account_id',
    'UPDATE queue.message SET leased = false WHERE account_id = $1 AND seq IN (SELECT seq FROM queue.message WHERE account_id = $1)',
    'WITH c AS (DELETE FROM queue.message m WHERE m.account_id = $1 RETURNING *) SELECT * FROM c',
    'SELECT 1 FROM core.api_secret WHERE secret_hash = $1',
    '/* fan-out: finds accounts with work */ SELECT account_id FROM queue.message GROUP BY account_id LIMIT 200',
  ])('accepts %s', (sql) => expect(rulesBroken(sql)).toEqual([]));

  it.each([
    'SELECT 1 FROM core.wallet',
    'SELECT 1 FROM core.wallet WHERE balance_nanos = $1',
    'SELECT 1 FROM queue.message m JOIN core.wallet w ON w.account_id = m.account_id WHERE m.account_id = $1',
    'SELECT 1 FROM queue.message m, core.wallet w WHERE account_id = $1 AND m.account_id = $1',
    'UPDATE queue.message SET leased = false WHERE account_id = $1 AND seq IN (SELECT seq FROM queue.message WHERE seq > 1)',
    'WITH c AS (DELETE FROM queue.message RETURNING *) SELECT * FROM c',
    'SELECT 1 FROM core.wallet WHERE account_id = other.account_id',
    'SELECT 1 FROM core.wallet /* account_id = $1 */',
    '/* fan-out: */ SELECT 1 FROM core.wallet',
  ])('refuses %s', (sql) => expect(rulesBroken(sql)).toEqual([2]));
});

describe('rule 3: INSERT … SELECT is anchored', () => {
  it('accepts an anchor row', () => {
    const sql = `INSERT INTO queue.message AS m (account_id, seq)
      SELECT w.account_id, u.seq FROM core.wallet w, unnest($2::bigint[]) u(seq) WHERE w.account_id = $1 RETURNING m.seq`;
    expect(rulesBroken(sql)).toEqual([]);
    expect(rulesBroken('INSERT INTO queue.message (account_id, seq) VALUES ($1, $2), ($1, $3)')).toEqual([]);
  });

  it('refuses a bare constant account', () => {
    expect(rulesBroken('INSERT INTO queue.message (account_id, seq) SELECT $1, u FROM unnest($2::bigint[]) u')).toEqual(
      [3],
    );
  });
});

describe('rule 4: INSERT stands alone', () => {
  const anchored = 'SELECT w.account_id FROM core.wallet w WHERE w.account_id = $1';
  it.each([
    'WITH i AS (INSERT INTO queue.message (account_id) VALUES ($1) RETURNING *) SELECT * FROM i',
    `WITH a AS (SELECT 1) INSERT INTO queue.message (account_id) ${anchored}`,
    `INSERT INTO queue.message (account_id) WITH a AS (SELECT 1) ${anchored}`,
    `INSERT INTO core.api_secret (account_id) SELECT 'a' UNION ALL SELECT 'b'`,
  ])('refuses %s', (sql) => expect(rulesBroken(sql)).toEqual([4]));
});

describe('rule 6: claims are materialized', () => {
  const claim = 'SELECT seq FROM queue.message WHERE account_id = $1 LIMIT $2 FOR UPDATE SKIP LOCKED';
  const update = (cte: string) =>
    `WITH c AS ${cte} (${claim}) UPDATE queue.message m SET leased = true FROM c WHERE m.account_id = $1`;
  it('accepts AS MATERIALIZED', () => expect(rulesBroken(update('MATERIALIZED'))).toEqual([]));
  it('accepts a claim deeper in AS MATERIALIZED', () => {
    const lanes = `MATERIALIZED (SELECT l.* FROM generate_series(0, 1) g(n) CROSS JOIN LATERAL (${claim}) l LIMIT $2)`;
    const sql = `WITH c AS ${lanes} UPDATE queue.message m SET leased = true FROM c WHERE m.account_id = $1`;
    expect(rulesBroken(sql)).toEqual([]);
  });
  it.each([claim, update(''), update('NOT MATERIALIZED')])('refuses %s', (sql) =>
    expect(rulesBroken(sql)).toEqual([6]),
  );
});

describe('rule 20: a locking read names its account first', () => {
  it.each([
    'SELECT 1 FROM queue.message m WHERE m.account_id = $1 FOR UPDATE',
    'SELECT 1 FROM queue.message m WHERE m.account_id = ANY($1::text[]) FOR SHARE',
    'SELECT 1 FROM core.api_secret s WHERE s.secret_hash = $1 FOR UPDATE',
    'WITH c AS MATERIALIZED (SELECT 1 FROM core.wallet w WHERE w.account_id = $2 FOR UPDATE) DELETE FROM core.wallet t USING c WHERE t.account_id = $2',
  ])('accepts %s', (sql) => expect(rulesBroken(sql)).toEqual([]));
  it.each([
    'SELECT 1 FROM queue.message m WHERE m.account_id = $2 FOR UPDATE',
    'SELECT 1 FROM queue.message m WHERE $1 = m.account_id FOR NO KEY UPDATE',
    'SELECT 1 FROM queue.message m WHERE m.account_id = ANY($3::text[]) AND m.seq = $1 FOR KEY SHARE',
  ])('refuses %s', (sql) => expect(rulesBroken(sql)).toEqual([20]));
});

describe('rule 9: what is written is finished', () => {
  const update = (set: string) => `UPDATE queue.message m SET ${set} WHERE m.account_id = $1`;
  const upsert = (set: string) =>
    `INSERT INTO queue.message AS m (account_id) VALUES ($1) ON CONFLICT (account_id, seq) DO UPDATE SET ${set}`;
  it.each([
    update('visible_at = $2, attempt = m.attempt + 1, a = GREATEST(m.a, $3::bigint)'),
    update('visible_at = core.clock_now()'),
    update(`visible_at = $2::timestamptz + interval '1 second'`),
    update('a = CASE WHEN m.a IS DISTINCT FROM $2 THEN 1 ELSE NULL END, b = $3'),
    upsert('a = m.a + excluded.a, b = LEAST(m.b, excluded.b), c = COALESCE(excluded.c, m.c)'),
  ])('accepts %s', (sql) => expect(rulesBroken(sql)).toEqual([]));

  it.each([
    update(`visible_at = m.visible_at + interval '1 second'`),
    update(`visible_at = visible_at + $2 * interval '1 second'`),
    update(`hour = date_trunc('hour', created_at)`),
    update('a = $2, data = jsonb_build_object($3::text, m.payload)'),
    upsert('seen_at = now()'),
    upsert('seen_at = core.clock_now()'),
    upsert(`seen_at = excluded.seen_at + interval '1 second'`),
    upsert('seen_at = CURRENT_TIMESTAMP'),
  ])('refuses %s', (sql) => expect(rulesBroken(sql)).toEqual([9]));

  const remove = (answer: string) => `DELETE FROM queue.message AS m WHERE m.account_id = $1 RETURNING ${answer}`;
  it.each([
    remove('m.*'),
    remove('seq, CASE WHEN octet_length(m.payload) <= 10 THEN m.payload END AS payload'),
    remove('(SELECT max(q.depth) FROM queue.queue q WHERE q.account_id = $1) AS depth'),
    `WITH d AS (${remove('m.seq')}) SELECT jsonb_agg(d.seq) FROM d`,
    'INSERT INTO core.setting (name) VALUES ($1) RETURNING since = core.clock_now() AS is_new',
  ])('accepts %s', (sql) => expect(rulesBroken(sql)).toEqual([]));

  it.each([
    remove('to_jsonb(m)'),
    remove(`m.seq, (to_jsonb(m) || '{}')::text AS message`),
    `WITH d AS (${remove('jsonb_build_object($2::text, m.payload)')}) SELECT * FROM d`,
    `${update('a = $2')} RETURNING m.seq, core.clock_now()`,
    `${upsert('a = $2')} RETURNING visible_at + interval '1 second'`,
  ])('refuses %s', (sql) => expect(rulesBroken(sql)).toEqual([9]));
});

describe('checkSources', () => {
  const check = (source: string) => checkSources(new Map([['src/a.ts', source]]), schema);

  it('finds statements in strings and templates, with constants put in', () => {
    expect(check('const FROM = `FROM core.wallet`;\nexport const a = `\n  SELECT * ${FROM}`;')).toEqual([
      'src/a.ts:2 rule 2: core.wallet has no condition account_id = $n or = ANY($n) of its own',
    ]);
    expect(check(`export const a = statement('a', 'SELECT * FROM core.wallet WHERE account_id = $1');`)).toEqual([]);
  });

  it('wants statements as constants of their module, with unique names', () => {
    const text = `'SELECT * FROM core.wallet WHERE account_id = $1'`;
    expect(check(`const read = () => query(${text});`)).toEqual([expect.stringMatching(/^src\/a\.ts:1 constant: /)]);
    expect(check(`const a = statement('x', ${text});\nconst b = statement('x', ${text});`)).toEqual([
      'src/a.ts:2 name: statement x is also at src/a.ts:1',
    ]);
  });

  it('leaves prose alone', () => {
    expect(
      check(`const a = 'Update core.wallet'; const b = 'SELECT one of them'; const c = 'UPDATE your plan';`),
    ).toEqual([]);
  });
});
