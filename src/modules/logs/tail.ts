// GET /v1/logs/tail: new records as Server-Sent Events. Each read takes the blocks that any process has committed since the last read, each
// block once.
import Type from 'typebox';
import type { BlockRef } from '../../blocks/block.ts';
import { bearer } from '../../core/credentials/http-schemes.ts';
import { clockNow } from '../../core/database-clock.ts';
import { filterObject } from '../../kit/filter.ts';
import type { RawAnswer, RawRequest, RawRoute } from '../../kit/raw-route.ts';
import { type Tail, tailAnswer } from '../../kit/tail.ts';
import { commentText, eventText } from '../../lib/event-stream.ts';
import { invalidField } from '../../problems/problem.ts';
import { levels } from './records/levels.ts';
import { ALL_COLUMNS } from './records/stored-log.ts';
import { filterFields, type Question, questionOf, type SentFilter, tooLate } from './search/question.ts';
import { type FindArgs, type FoundRecord, findRecords } from './search/scan.ts';
import type { LogsState } from './state.ts';

const SEARCH = 'logs.search';
/** Of what came in a second; of more the first are passed over, and a comment says so. */
const RECORDS_PER_READ = 500;
const BLOCKS_PER_READ = 64;
const TEXT_CHARACTERS_MAX = 1_024;

const { q, service, level, trace_id, filter } = filterFields;
const fields = { q, service, level, trace_id, filter };
/** An attribute's value: filter.NAME or filter[NAME]; the same under the name that the field had. */
const MEMBER = /^(?:filter|attributes)(?:\.(.*)|\[(.+)\])$/s;

export const tailRoute: RawRoute<LogsState> = {
  name: 'logs.tail',
  methods: ['GET'],
  path: '/v1/logs/tail',
  capability: SEARCH,
  stream: 'answer',
  eventStream: {
    summary: 'Follows log records as they are stored.',
    query: Type.Object(fields),
    event: 'A record, as logs.search answers it.',
  },
  bodyBytesMax: 1,
  credentialOf: bearer,
  answer: tail,
};

async function tail(request: RawRequest, { store }: LogsState): Promise<RawAnswer> {
  const ctx = request.ctx ?? (await request.admit(null));
  const asked = questionOf(readQuery(request.query), await clockNow(ctx.core.db));
  // Records may say any time that ingest takes.
  const question = { ...asked, fromMs: 0, toMs: Number.MAX_SAFE_INTEGER };
  return tailAnswer(request, ctx, {
    noun: 'log records',
    ...follower(ctx.accountId, store, question, request.signal),
  });
}

function follower(
  accountId: string,
  store: LogsState['store'],
  question: Question,
  signal: AbortSignal,
): Pick<Tail, 'begin' | 'read'> {
  const args: FindArgs = { question, after: null, isNewestFirst: true, limit: RECORDS_PER_READ };
  const work = { source: findRecords.source, exportName: findRecords.id, columns: ALL_COLUMNS, args, tooLate };
  let seen: ReadonlySet<bigint> = new Set();
  // A long call has an older number than calls that overtook it: what is new is what was not seen.
  const fresh = async () => {
    const refs = await store.tail(accountId, 0n);
    const before = seen;
    seen = new Set(refs.map(({ blockId }) => blockId));
    return refs.filter(({ blockId }) => !before.has(blockId));
  };
  return {
    async begin() {
      await fresh();
    },
    async *read() {
      for (const part of partsOf(await fresh())) {
        const rows = await store.work<FoundRecord[]>(accountId, part, work, signal);
        for (const { json } of rows.slice(0, RECORDS_PER_READ).reverse()) yield eventText({ data: json });
        if (rows.length > RECORDS_PER_READ) yield commentText('records were passed over: too many at once');
      }
    },
  };
}

function* partsOf(refs: readonly BlockRef[]): Generator<readonly BlockRef[]> {
  for (let at = 0; at < refs.length; at += BLOCKS_PER_READ) yield refs.slice(at, at + BLOCKS_PER_READ);
}

/** Throws VALIDATION_FAILED. */
function readQuery(query: URLSearchParams): SentFilter {
  const sent: Record<string, string> = {};
  const wanted: [name: string, value: unknown][] = [];
  for (const [name, text] of query) {
    const [isMember, dotted, inBrackets = ''] = MEMBER.exec(name) ?? [];
    if (isMember === undefined && !Object.hasOwn(fields, name) && name !== 'attributes')
      throw invalidField(
        name.slice(0, 200),
        'unknown',
        'The stream takes q, service, level, trace_id and filter.NAME.',
      );
    if (text.length > TEXT_CHARACTERS_MAX || text.includes('\0'))
      throw invalidField(name.slice(0, 200), 'format', 'The value is too long, or holds NUL.');
    if (isMember !== undefined) wanted.push([dotted ?? inBrackets, text]);
    else if (name === 'filter' || name === 'attributes') wanted.push(...membersOf(text));
    else sent[name] = text;
  }
  if (sent.level !== undefined && !(levels as readonly string[]).includes(sent.level))
    throw invalidField('level', 'enum', `level must be one of ${levels.join(', ')}.`);
  if (sent.trace_id !== undefined && !/^[0-9a-f]{32}$/i.test(sent.trace_id))
    throw invalidField('trace_id', 'pattern', 'trace_id must be 32 hexadecimal digits.');
  return { ...(sent as SentFilter), filter: Object.fromEntries(wanted) };
}

/** Of a filter as JSON: an object of values, or a list of conditions. */
function membersOf(text: string): [string, unknown][] {
  const filter = parseJson(text);
  if (filter === null || typeof filter !== 'object')
    throw invalidField('filter', 'type', 'filter must be an object, or a list of conditions, as JSON.');
  return Object.entries(Array.isArray(filter) ? filterObject(filter, 'filter') : filter);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
