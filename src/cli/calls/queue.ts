// `qm queue tail`: prints the newest messages of a queue, then new ones as they become available. It peeks: nothing is leased, acknowledged or
// counted as delivered.
import { setTimeout as sleep } from 'node:timers/promises';
import { Command } from 'commander';
import { elementTexts, memberSources } from '../../lib/json-source.ts';
import { follow } from '../client/follow.ts';
import { readPath } from '../client/http.ts';
import { access } from '../client/profile.ts';
import { wholeNumber } from '../fields.ts';
import { printable } from '../output.ts';
import { oneLine } from './data-text.ts';

/** The most that one peek shows. */
const PEEK_MAX = 10;
const SHOWN_IDS_MAX = 10_000;

export function queueCommand(): Command {
  const queue = new Command('queue').description('Watch a queue.');
  queue
    .command('tail')
    .description(
      `Show the newest ${PEEK_MAX} messages of a queue, then new ones as they become available, without taking them: no lease, no receipt, and delivery_count stays. ` +
        `It looks once a second at the newest ${PEEK_MAX}, so it does not show a message that a consumer takes within that second. Where more come in a second, it says so.`,
    )
    .argument('<name>', 'name of the queue')
    .option('--interval <seconds>', 'time between two looks (default: 1)', wholeNumber(3_600))
    .option('--json', 'print each message as JSON on one line')
    .action(tail);
  return queue;
}

interface TailOptions {
  readonly interval?: number;
  readonly json?: boolean;
}

async function tail(name: string, { interval = 1, json = false }: TailOptions): Promise<void> {
  const to = await access();
  const seen = new Set<string>();
  const path = `/v1/queue/peek/${encodeURIComponent(name)}?limit=${PEEK_MAX}&newest=true`;
  let isFirst = true;
  for await (const { data } of follow(() => readPath(to, path), to.url)) {
    const newest = elementTexts(data, memberSources(data).get('items')?.start ?? 0);
    const fresh = newest.filter((text) => !seen.has(JSON.parse(text).message_id)).reverse();
    if (!isFirst && fresh.length === PEEK_MAX)
      process.stderr.write(`${PEEK_MAX} or more messages came since the last look: only the newest are shown\n`);
    isFirst = false;
    for (const text of fresh) {
      const { message_id: id, published_at: at, delivery_count: count } = JSON.parse(text);
      seen.add(id);
      const line = json ? text : `${at}  ${id}  ${count === 0 ? '' : `delivered ${count} times  `}${payloadOf(text)}`;
      process.stdout.write(`${json ? oneLine(line) : printable(line)}\n`);
    }
    for (const id of seen) if (seen.size > SHOWN_IDS_MAX) seen.delete(id);
    await sleep(interval * 1_000);
  }
}

function payloadOf(message: string): string {
  const { start, end } = memberSources(message).get('payload') ?? { start: 0, end: 0 };
  return oneLine(message.slice(start, end));
}
