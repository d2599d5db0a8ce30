// `qm events listen`: prints the account's events as they happen, each once and in order, and optionally forwards each as a webhook. They
// are read from account.events.list. Its sequence has no gaps, so a lost connection neither loses nor repeats events.
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Command, Option } from 'commander';
import { elementTexts, memberSources } from '../../lib/json-source.ts';
import { nearest } from '../../lib/nearest.ts';
import { discoveryOf } from '../client/discovery.ts';
import { follow } from '../client/follow.ts';
import { readPath } from '../client/http.ts';
import { type Access, access } from '../client/profile.ts';
import { printable, UsageError } from '../output.ts';
import { oneLine } from './data-text.ts';
import { forward, readSecret } from './forward.ts';
import { findReceiver, ReceivedReader } from './received.ts';

const LOOK_EVERY_MS = 1_000;
const PAGE = 100;

export function eventsCommand(): Command {
  const events = new Command('events').description('Follow the events of the account.');
  events
    .command('listen')
    .description(
      'Print events of the account as they happen, and send each to --forward as a webhook would be: same headers, body and signature. ' +
        'With --receiver, each verified request of another service is sent as it came: its headers and body, signed anew. ' +
        'The target may be on this machine; nothing has to be public and no webhook is registered. Each event is sent once: a failed one is not tried again.',
    )
    .option('--types <list>', 'only these types, separated by commas, such as queue.dlq')
    .option('--receiver <id>', 'follow the requests of this webhook receiver (id or name) in place of events')
    .option('--forward <url>', 'where each event is POSTed')
    .addOption(
      new Option('--secret <whsec>', 'signs what is forwarded (default: one of its own, printed at the start)').env(
        'WEBHOOK_SECRET',
      ),
    )
    .option('--json', 'print each event as JSON on one line')
    .action(listen);
  return events;
}

interface ListenOptions {
  readonly types?: string;
  readonly receiver?: string;
  readonly forward?: string;
  readonly secret?: string;
  readonly json?: boolean;
}

async function listen({ types, receiver, forward: target, secret, json = false }: ListenOptions): Promise<void> {
  if (types !== undefined && receiver !== undefined)
    throw new UsageError('--types is of events: leave it out with --receiver');
  const to = await access();
  const wanted = types === undefined ? null : await readTypes(to.url, types);
  const url = target === undefined ? null : readTarget(target);
  const signedWith = secret === undefined ? `whsec_${randomBytes(32).toString('base64')}` : readSecret(secret);
  const begin = () => {
    process.stderr.write(`Listening to ${to.url}${url === null ? '' : `, forwarding to ${url}`}. Ctrl-C ends it.\n`);
    if (url !== null && secret === undefined) process.stderr.write(`Signing secret: ${signedWith}\n`);
  };
  if (receiver !== undefined)
    return listenTo(to, { receiverId: await findReceiver(to, receiver), url, signedWith, begin, json });
  const reader = new EventReader(to);
  const pages = follow(() => reader.next(), to.url);
  await pages.next();
  begin();
  for await (const events of pages) {
    for (const event of events) {
      if (wanted !== null && !wanted.has(event.type)) continue;
      process.stdout.write(`${json ? oneLine(event.text) : lineOf(event)}\n`);
      if (url !== null) process.stderr.write(`  ${await forward(url, event, signedWith)}\n`);
    }
    if (!reader.isBehind) await sleep(LOOK_EVERY_MS);
  }
}

interface ReceiverToFollow {
  readonly receiverId: string;
  readonly url: string | null;
  readonly signedWith: string;
  readonly begin: () => void;
  readonly json: boolean;
}

async function listenTo(to: Access, { receiverId, url, signedWith, begin, json }: ReceiverToFollow): Promise<void> {
  const reader = new ReceivedReader(to, receiverId);
  const pages = follow(() => reader.next(), to.url);
  await pages.next();
  begin();
  for await (const requests of pages) {
    for (const request of requests) {
      const { request_id: id, received_at: at, outcome, event, sent } = request;
      process.stdout.write(
        `${json ? oneLine(JSON.stringify(request)) : printable(`${at}  ${event ?? 'none'}  ${id}  ${outcome}`)}\n`,
      );
      if (url === null) continue;
      const came =
        sent === null
          ? `${id} is not forwarded: its content is too long, or no text`
          : await forward(url, { event_id: id, text: sent.body, headers: sent.headers }, signedWith);
      process.stderr.write(`  ${came}\n`);
    }
    await sleep(LOOK_EVERY_MS);
  }
}

interface ListedEvent {
  readonly event_id: string;
  readonly type: string;
  readonly timestamp: string;
  readonly sequence: number;
  /** As it is delivered to webhooks. */
  readonly text: string;
}

function lineOf({ event_id: id, type, timestamp, text }: ListedEvent): string {
  const { start, end } = memberSources(text).get('data') ?? { start: 0, end: 0 };
  return printable(`${timestamp}  ${type}  ${id}  ${oneLine(text.slice(start, end))}`);
}

/** Hands out what has happened since it was last asked, page by page and the oldest first; at first nothing, but remembers where that is. */
class EventReader {
  readonly #to: Access;
  #last: number | null = null;
  /** Cursors of the pages that lie between what was handed out and now, the next one last. */
  readonly #way: string[] = [];

  constructor(to: Access) {
    this.#to = to;
  }

  get isBehind(): boolean {
    return this.#way.length > 0;
  }

  /** Throws as `readPath` does; what it would have handed out comes the next time. */
  async next(): Promise<ListedEvent[]> {
    for (let above: number | null = null; ; ) {
      const cursor = this.#way.at(-1);
      const query = cursor === undefined ? '' : `&cursor=${encodeURIComponent(cursor)}`;
      const limit = this.#last === null ? 1 : PAGE;
      const { data } = await readPath(this.#to, `/v1/account/events/list?limit=${limit}${query}`);
      const page = eventsIn(data);
      this.#last ??= page[0]?.sequence ?? 0;
      const last = this.#last;
      const fresh = page.filter(({ sequence }) => sequence > last);
      const oldest = fresh.at(-1)?.sequence ?? last;
      const { next_cursor: older } = JSON.parse(data) as { readonly next_cursor: string | null };
      if (fresh.length === page.length && oldest > last + 1 && older !== null) {
        this.#way.push(older);
        above = oldest;
        continue;
      }
      this.#way.pop();
      // What is missing below the page above is too old to be listed.
      this.#last = fresh[0]?.sequence ?? (above === null ? last : above - 1);
      return fresh.reverse();
    }
  }
}

function eventsIn(data: string): ListedEvent[] {
  return elementTexts(data, memberSources(data).get('items')?.start ?? 0).map((text) => ({
    ...JSON.parse(text),
    text,
  }));
}

async function readTypes(url: string, list: string): Promise<Set<string>> {
  const types = list.split(',').map((type) => type.trim());
  const { events } = await discoveryOf(url);
  for (const type of types) {
    if (events.includes(type)) continue;
    const near = nearest(type, events, 3);
    const hint = near.length === 0 ? `${url}/docs/events lists them.` : `Did you mean ${near.join(', ')}?`;
    throw new UsageError(`there is no event type ${JSON.stringify(type)}. ${hint}`);
  }
  return new Set(types);
}

function readTarget(text: string): string {
  const url = URL.parse(text);
  if (url !== null && ['http:', 'https:'].includes(url.protocol)) return url.href;
  throw new UsageError('--forward must be a URL, such as http://localhost:3000/hook');
}
