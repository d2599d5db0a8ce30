// Requests of a webhook receiver, as `qm events listen --receiver` follows them: each once, and as its sender sent it but for its signature.
import { elementTexts, memberSources } from '../../lib/json-source.ts';
import { readPath } from '../client/http.ts';
import type { Access } from '../client/profile.ts';
import { UsageError } from '../output.ts';

const PAGE = 20;
const PAGES_MAX = 50;
/** Requests are listed within a second, by several processes in any order. */
const LISTED_WITHIN_MS = 10_000;

export interface ReceivedRequest {
  readonly request_id: string;
  readonly received_at: string;
  readonly outcome: string;
  readonly event: string | null;
  /** To be forwarded; null: it has no content here, or bytes that are no text. */
  readonly sent: { readonly headers: Readonly<Record<string, string>>; readonly body: string } | null;
}

interface Listed extends Omit<ReceivedRequest, 'sent'> {
  readonly message: { readonly headers: Readonly<Record<string, string>>; readonly body?: unknown } | null;
}

/** The id of the receiver of this id or name. Throws UsageError. */
export async function findReceiver(to: Access, wanted: string): Promise<string> {
  const names: string[] = [];
  for (let cursor = ''; ; ) {
    const { data } = await readPath(to, `/v1/account/webhooks/receive/list?limit=100${cursor}`);
    const { items, next_cursor: next } = JSON.parse(data) as {
      readonly items: readonly { readonly receiver_id: string; readonly name: string }[];
      readonly next_cursor: string | null;
    };
    const found = items.find(({ receiver_id: id, name }) => id === wanted || name === wanted);
    if (found !== undefined) return found.receiver_id;
    names.push(...items.map(({ name }) => name));
    if (next === null) break;
    cursor = `&cursor=${encodeURIComponent(next)}`;
  }
  const known = names.length === 0 ? 'There is none yet.' : `There are ${names.slice(0, 10).join(', ')}.`;
  throw new UsageError(`there is no webhook receiver ${JSON.stringify(wanted)}. ${known}`);
}

/** Hands out what has arrived since it was last asked, the oldest first; at first nothing. */
export class ReceivedReader {
  readonly #to: Access;
  readonly #receiverId: string;
  /** Ids and times of what was handed out, or was there before. */
  #seen: Map<string, number> | null = null;

  constructor(to: Access, receiverId: string) {
    this.#to = to;
    this.#receiverId = receiverId;
  }

  async next(): Promise<ReceivedRequest[]> {
    const seen = this.#seen;
    const sinceMs = seen === null ? Number.POSITIVE_INFINITY : Math.max(0, ...seen.values()) - LISTED_WITHIN_MS;
    const listed = await this.#read(sinceMs);
    const fresh = seen === null ? [] : listed.filter(({ request_id: id }) => !seen.has(id)).reverse();
    const times = listed.map(({ request_id: id, received_at: at }) => [id, Date.parse(at)] as const);
    const kept = [...(seen ?? [])].filter(([, ms]) => ms >= sinceMs);
    this.#seen = new Map([...kept, ...times]);
    return fresh;
  }

  /** Pages of the newest, until one reaches back so far. */
  async #read(sinceMs: number): Promise<ReceivedRequest[]> {
    const all: ReceivedRequest[] = [];
    let cursor = '';
    for (let page = 0; page < PAGES_MAX; page += 1) {
      const path = `/v1/account/webhooks/receive/requests/${encodeURIComponent(this.#receiverId)}`;
      const { data } = await readPath(this.#to, `${path}?limit=${PAGE}${cursor}`);
      const { items, next_cursor: next } = JSON.parse(data) as {
        readonly items: readonly Listed[];
        readonly next_cursor: string | null;
      };
      const texts = elementsOf(data);
      all.push(...items.map((item, i) => requestOf(item, texts[i] ?? '{}')));
      const oldest = items.at(-1);
      if (next === null || oldest === undefined || Date.parse(oldest.received_at) < sinceMs) break;
      cursor = `&cursor=${encodeURIComponent(next)}`;
    }
    return all;
  }
}

function elementsOf(data: string): string[] {
  return elementTexts(data, memberSources(data).get('items')?.start ?? 0);
}

function requestOf({ message, ...request }: Listed, text: string): ReceivedRequest {
  return { ...request, sent: message === null ? null : sentOf(message, text) };
}

/** JSON goes as it was sent, digit by digit; the fields of a form go as JSON. */
function sentOf({ headers, body }: NonNullable<Listed['message']>, text: string): ReceivedRequest['sent'] {
  if (body === undefined) return null;
  if (typeof body === 'string') return { headers, body };
  const message = memberSources(text).get('message');
  const source = message === undefined ? undefined : memberSources(text, message.start).get('body');
  if (source === undefined) return null;
  const isForm = headers['content-type']?.includes('form') === true;
  const type: Record<string, string> = isForm ? { 'content-type': 'application/json' } : {};
  return { headers: { ...headers, ...type }, body: text.slice(source.start, source.end) };
}
