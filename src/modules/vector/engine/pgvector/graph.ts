// HNSW graphs of large collections: one partial index each, built in the background and never while a call waits. A single graph for all
// collections would make a search walk through the vectors of other accounts.
import { createHash } from 'node:crypto';
import pg from 'pg';
import { withClient } from '../../../../db/client.ts';
import type { ConnectionConfig, Database } from '../../../../db/database.ts';
import { statement } from '../../../../db/statement.ts';
import type { CollectionRef, Metric } from '../port.ts';

/** What an HNSW index of pgvector takes. */
const DIMENSION_MAX = 2_000;
/** Every write opens every index of the table. */
const GRAPHS_MAX = 32;

const operatorClasses: Readonly<Record<Metric, string>> = {
  cosine: 'vector_cosine_ops',
  euclidean: 'vector_l2_ops',
  dotproduct: 'vector_ip_ops',
};

// Graphs that are not whole were left by a build that did not end; others outlived their collection, most of it, or their use.
const findUseless = statement(
  'vector_pg_useless_graphs',
  `/* fan-out: graphs of large collections */
   SELECT g.relname AS graph
     FROM pg_class g JOIN pg_index x ON x.indexrelid = g.oid
    WHERE x.indrelid = to_regclass('vector_index.embedding') AND g.relname LIKE 'graph\\_%'
      AND (NOT x.indisvalid OR NOT EXISTS (
        SELECT FROM vector_index.progress p
         WHERE 'graph_' || md5(p.account_id || ' ' || p.collection_id) = g.relname AND p.row_count >= $1::bigint / 2
           AND NOT p.has_wide))`,
);
const findWanting = statement(
  'vector_pg_wanted_graphs',
  `/* fan-out: large collections */
   SELECT c.account_id, c.collection_id, c.dimension, c.metric
     FROM vector_index.progress p JOIN vector.collection c ON c.account_id = p.account_id AND c.collection_id = p.collection_id
    WHERE p.row_count >= $1 AND NOT p.has_wide AND c.dimension <= ${DIMENSION_MAX}
      AND to_regclass('vector_index.graph_' || md5(p.account_id || ' ' || p.collection_id)) IS NULL
      AND (SELECT count(*) FROM pg_index x WHERE x.indrelid = to_regclass('vector_index.embedding')) <= ${GRAPHS_MAX}
    ORDER BY p.row_count DESC LIMIT 1`,
);
const cancelBackend = statement('vector_pg_cancel_build', 'SELECT pg_cancel_backend($1)');

/** The name of a collection's graph, without its schema. */
export function graphOf({ accountId, collectionId }: Pick<CollectionRef, 'accountId' | 'collectionId'>): string {
  return `graph_${createHash('md5').update(`${accountId} ${collectionId}`).digest('hex')}`;
}

interface Wanting {
  readonly account_id: string;
  readonly collection_id: string;
  readonly dimension: number;
  readonly metric: Metric;
}

export interface GraphBuild {
  readonly db: Database;
  readonly connection: ConnectionConfig;
  /** The smallest collection that gets one. */
  readonly fromRows: number;
  readonly signal: AbortSignal;
}

/** Drops what is of no use and builds the graph that is wanted most. True when another may be wanted. */
export async function tendGraphs({ db, connection, fromRows, signal }: GraphBuild): Promise<boolean> {
  const useless = await db.query<{ graph: string }>(findUseless, [fromRows]);
  const [wanting] = useless.rows.length > 0 ? [] : (await db.query<Wanting>(findWanting, [fromRows])).rows;
  const steps = useless.rows.map(
    ({ graph }) => `DROP INDEX CONCURRENTLY IF EXISTS vector_index.${pg.escapeIdentifier(graph)}`,
  );
  if (wanting !== undefined) steps.push(creationOf(wanting));
  if (steps.length === 0 || signal.aborted) return false;
  await withClient(connection, async (client) => {
    const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
    const cancel = () => void db.query(cancelBackend, [rows[0]?.pid ?? 0]).catch(() => undefined);
    signal.addEventListener('abort', cancel, { once: true });
    try {
      for (const step of steps) if (!signal.aborted) await client.query(step);
    } finally {
      signal.removeEventListener('abort', cancel);
    }
  });
  return !signal.aborted;
}

function creationOf({ account_id, collection_id, dimension, metric }: Wanting): string {
  const name = pg.escapeIdentifier(graphOf({ accountId: account_id, collectionId: collection_id }));
  return `CREATE INDEX CONCURRENTLY ${name} ON vector_index.embedding
     USING hnsw ((embedding::vector(${Number(dimension)})) ${operatorClasses[metric]})
     WHERE account_id = ${pg.escapeLiteral(account_id)} AND collection_id = ${pg.escapeLiteral(collection_id)}`;
}
