import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { dumpSchema } from '../../scripts/schema-dump.ts';
import { withClient } from '../../src/db/client.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

const committed = readFileSync(join(import.meta.dirname, '../../migrations/schema.sql'), 'utf8');
let empty: TestDatabase;

beforeEach(async () => {
  empty = await createTestDatabase('template0');
});

afterEach(() => empty.drop());

describe(`the schema dump (PostgreSQL ${inject('pgMajor')})`, () => {
  it('is what the migrations give', async () => {
    const migrated = await createTestDatabase();
    const dump = await withClient(migrated.connection, dumpSchema);
    await migrated.drop();
    expect(committed.endsWith(dump)).toBe(true);
  });

  it('makes the same schema again', async () => {
    const dump = await withClient(empty.connection, async (client) => {
      await client.query(committed);
      return dumpSchema(client);
    });
    expect(committed.endsWith(dump)).toBe(true);
  });

  it('shows every part of a table', async () => {
    const dump = await withClient(empty.connection, async (client) => {
      await client.query(`
        CREATE SCHEMA shop;
        CREATE TABLE shop.maker (id bigint PRIMARY KEY);
        CREATE TABLE shop.item (
          maker_id bigint NOT NULL REFERENCES shop.maker, day date NOT NULL, name text COLLATE "C" DEFAULT 'x', "order" text,
          size int GENERATED ALWAYS AS (length(name)) STORED, CHECK (maker_id > 0), PRIMARY KEY (maker_id, day)
        ) PARTITION BY RANGE (day);
        CREATE TABLE shop.item_today PARTITION OF shop.item FOR VALUES FROM ('2026-01-01') TO ('2026-01-02');
        CREATE TABLE shop.blob (body bytea) WITH (fillfactor = 50, toast.autovacuum_enabled = off);
        ALTER TABLE shop.blob ALTER body SET STORAGE EXTERNAL;
        CREATE INDEX item_name ON shop.item (name) WHERE name <> '';`);
      return dumpSchema(client);
    });
    expect(dump).toBe(`SET check_function_bodies = off;

CREATE SCHEMA shop;

CREATE TABLE shop.blob (
  body bytea
) WITH (fillfactor=50, toast.autovacuum_enabled=off);
ALTER TABLE shop.blob ALTER COLUMN body SET STORAGE EXTERNAL;

CREATE TABLE shop.item (
  maker_id bigint NOT NULL,
  day date NOT NULL,
  name text COLLATE "C" DEFAULT 'x'::text,
  "order" text,
  size integer GENERATED ALWAYS AS (length(name)) STORED,
  CONSTRAINT item_pkey PRIMARY KEY (maker_id, day),
  CONSTRAINT item_maker_id_check CHECK ((maker_id > 0))
) PARTITION BY RANGE (day);

CREATE TABLE shop.maker (
  id bigint NOT NULL,
  CONSTRAINT maker_pkey PRIMARY KEY (id)
);

CREATE INDEX item_name ON ONLY shop.item USING btree (name) WHERE (name <> ''::text);

ALTER TABLE shop.item ADD CONSTRAINT item_maker_id_fkey FOREIGN KEY (maker_id) REFERENCES shop.maker(id);
`);
  });

  it('refuses a kind of object that it cannot show', async () => {
    const dump = withClient(empty.connection, async (client) => {
      await client.query('CREATE SEQUENCE public.counter');
      return dumpSchema(client);
    });
    await expect(dump).rejects.toThrow(/does not know: public\.counter \(kind S\)/);
  });
});
