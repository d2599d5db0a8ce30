// `qm queue tail`: prints the messages of a queue as they become available. It peeks: nothing is leased, acknowledged or counted as delivered.
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
      'Show messages of a queue as they become available, without taking them: no lease, no receipt, and delivery_count stays. ' +
        `It peeks once a second at the next ${PEEK_MAX} messages, so it does not show a message that a consumer takes within that second, or that stands behind ${PEEK_MAX} others.`,
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
  const path = `/v1/queue/peek/${encodeURIComponent(name)}?limit=${PEEK_MAX}`;
  let isFull = false;
  for await (const { data } of follow(() => readPath(to, path), to.url)) {
    const messages = elementTexts(data, memberSources(data).get('items')?.start ?? 0);
    for (const text of messages) {
      const { message_id: id, published_at: at, delivery_count: count } = JSON.parse(text);
      if (seen.has(id)) continue;
      seen.add(id);
      const line = json ? text : `${at}  ${id}  ${count === 0 ? '' : `delivered ${count} times  `}${payloadOf(text)}`;
      process.stdout.write(`${json ? oneLine(line) : printable(line)}\n`);
    }
    if (messages.length === PEEK_MAX && !isFull)
      process.stderr.write(`${PEEK_MAX} messages wait: those behind them are not shown until these are taken\n`);
    isFull = messages.length === PEEK_MAX;
    for (const id of seen) if (seen.size > SHOWN_IDS_MAX) seen.delete(id);
    await sleep(interval * 1_000);
  }
}

function payloadOf(message: string): string {
  const { start, end } = memberSources(message).get('payload') ?? { start: 0, end: 0 };
  return oneLine(message.slice(start, end));
}
