// Sends the answer of a raw route: text and bytes at once, streams as they are produced, contents by the requested range.
import type { OutgoingHttpHeaders } from 'node:http';
import type { FastifyReply } from 'fastify';
import { tokenWorth } from '../../core/callers/tiers.ts';
import { toProblem } from '../../gateway/to-problem.ts';
import type { RawAnswer, RawContent, RawRoute } from '../../kit/raw-route.ts';
import { partOf } from '../../lib/ranges.ts';
import { problem } from '../../problems/problem.ts';
import type { CallSlot } from '../rest/call-slot.ts';
import { type FailureOptions, note } from '../rest/failures.ts';
import { countRaw, headRaw } from '../rest/finish.ts';
import type { OpenStreams } from './streams.ts';

type Pieces = AsyncIterable<string | Uint8Array>;

export interface RawWay {
  readonly options: FailureOptions;
  readonly streams: OpenStreams;
  readonly route: RawRoute;
  readonly slot: CallSlot;
  readonly reply: FastifyReply;
}

/** Sends the answer. Answers once it is out, and what it costs is known. */
export async function sendRaw(way: RawWay, answer: RawAnswer): Promise<FastifyReply> {
  const { body } = answer;
  if (typeof body === 'string' || Buffer.isBuffer(body)) return sendWhole(way, answer, body);
  if ('open' in body) return sendContent(way, answer, body);
  return sendStream(way, answer, body);
}

function sendWhole(way: RawWay, answer: RawAnswer, body: string | Buffer): FastifyReply {
  const { call } = way.slot;
  call?.weigh(Math.floor(body.length / tokenWorth.answerBytes));
  noteCost(way, answer);
  countRaw(way.options.traffic, way.slot, answer.status, body);
  headRaw(way.slot, way.reply, answer);
  return way.reply.send(body);
}

function sendContent(way: RawWay, answer: RawAnswer, content: RawContent): Promise<FastifyReply> | FastifyReply {
  const { reply } = way;
  const { length, etag, lastModifiedMs } = content;
  const described = {
    'accept-ranges': 'bytes',
    ...(etag === undefined ? {} : { etag }),
    ...(lastModifiedMs === undefined ? {} : { 'last-modified': new Date(lastModifiedMs).toUTCString() }),
    ...answer.headers,
  };
  const takesRange = reply.request.method === 'GET' || content.rangesOfHead === true;
  const part = takesRange ? partOf(reply.request.headers, content) : 'whole';
  if (part === 'none') {
    void reply.header('content-range', `bytes */${length}`);
    throw problem('RANGE_NOT_SATISFIABLE', { message: `The content has ${length} bytes.` });
  }
  const { start, end } = part === 'whole' ? { start: 0, end: length - 1 } : part;
  const range: RawAnswer['headers'] = part === 'whole' ? {} : { 'content-range': `bytes ${start}-${end}/${length}` };
  const headers = { ...described, ...range, 'content-length': String(end - start + 1) };
  const status = part === 'whole' ? answer.status : 206;
  if (reply.request.method === 'HEAD' || length === 0) return sendWhole(way, { ...answer, status, headers }, '');
  return sendStream(way, { ...answer, status, headers }, content.open(start, end));
}

async function sendStream(way: RawWay, answer: RawAnswer, pieces: Pieces): Promise<FastifyReply> {
  const { route, slot, reply, options, streams } = way;
  if (route.stream === undefined) throw new TypeError(`the route ${route.name} answers a stream and does not say so`);
  const writeHead = () => {
    headRaw(slot, reply, answer);
    reply.raw.writeHead(answer.status, reply.getHeaders() as OutgoingHttpHeaders);
  };
  let { status } = answer;
  try {
    await streams.write(reply, pieces, writeHead, answer.beat);
  } catch (error) {
    noteCost(way, answer);
    // Told as every failure is, as long as nothing is out.
    if (!reply.sent) throw error;
    const failure = toProblem(error);
    status = failure.httpStatus;
    if (slot.call !== undefined) slot.call.failure = failure;
    if (slot.raw !== undefined) note(options, slot, slot.raw.identity, failure);
  }
  noteCost(way, answer);
  countRaw(options.traffic, slot, status);
  return reply;
}

function noteCost({ slot: { call } }: RawWay, { costNanos }: RawAnswer): void {
  const cost = typeof costNanos === 'function' ? costNanos() : (costNanos ?? 0n);
  if (call === undefined || cost === 0n) return;
  call.billed = true;
  call.answer ??= { data: null, costNanos: cost };
}
