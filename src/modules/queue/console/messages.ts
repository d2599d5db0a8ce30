// Messages in pages: payload and headers as they were sent, digit by digit. They come from strangers: cut, escaped, never links.

import { type Column, withQuery } from '../../../kit/console/table.ts';
import { ago, count, payload, short, TEXT_CHARACTERS_MAX } from '../../../kit/console/text.ts';
import type { ItemOf, Read, Visit } from '../../../kit/console/visit.ts';
import { type Html, html } from '../../../lib/html.ts';
import { elementStarts, indentJson, memberSources, memberStart } from '../../../lib/json-source.ts';
import { problem } from '../../../problems/problem.ts';
import type { peek } from '../capabilities/peek.ts';

const LINE_CHARACTERS = 100;

export type Message = ItemOf<typeof peek>;

/** A message with the source text of its record and of what is opaque in it. */
export type Sourced<One> = One & {
  readonly record: string;
  readonly payload: string;
  /** `null` when it has none. */
  readonly headers: string;
};

/** The messages that a call answered. Throws what it failed with. */
export function messagesWithSource<One extends Message>(
  read: Read<{ readonly items: readonly One[] }>,
): Sourced<One>[] {
  if (read.problem !== null) throw read.problem;
  const { data, text } = read;
  const items = memberStart(text, 'items', memberStart(text, 'data') ?? 0);
  if (items === null) throw new Error('a list of messages was answered without items');
  const starts = elementStarts(text, items);
  return data.items.map((item, i) => {
    const start = starts[i] as number;
    const members = memberSources(text, start);
    const source = (name: string) => text.slice(members.get(name)?.start, members.get(name)?.end);
    const end = Math.max(...[...members.values()].map((each) => each.end));
    return { ...item, payload: source('payload'), headers: source('headers'), record: `${text.slice(start, end)}}` };
  });
}

/** One record a line, or that of `?message=` alone: line breaks between tokens become spaces, all else is as it was sent. */
export function records(visit: Visit, messages: readonly Sourced<Message>[]): string {
  const id = visit.query.get('message');
  const asked = messages.filter(({ message_id }) => id === null || message_id === id);
  if (id !== null && asked.length === 0)
    throw problem('NOT_FOUND', { message: 'The message is not here any more.', param: 'message' });
  return asked.map(({ record }) => `${record.replaceAll(/[\r\n]+/g, ' ')}\n`).join('');
}

/** What was published: a short one as it is, a longer one to be opened. */
function contentOf(visit: Visit, { message_id: id, payload: text, headers }: Sourced<Message>): Html {
  if (text.length <= LINE_CHARACTERS && headers === 'null') return html`<code class="content">${short(text)}</code>`;
  const download = withQuery(visit, { as: 'jsonl', message: id });
  const part = (source: string, label: string) =>
    payload(indentJson(source, TEXT_CHARACTERS_MAX), `${label} of ${id}`, { download });
  return html`<details id="content-${id}"><summary><code class="content">${short(text, LINE_CHARACTERS)}</code></summary>${part(text, 'Payload')}${headers === 'null' ? '' : html`<p>Headers</p>${part(headers, 'Headers')}`}</details>`;
}

type MessageColumn = Column<Sourced<Message>>;

export function payloadColumn(visit: Visit): MessageColumn {
  return { title: 'Payload', cell: (message) => contentOf(visit, message) };
}

/** Of FIFO queues. */
export const groupColumn: MessageColumn = {
  title: 'Group',
  cell: ({ message_group_id: group }) => short(group ?? 'default', 60),
};

export function publishedColumn(visit: Visit): MessageColumn {
  return { title: 'Published', cell: ({ published_at }) => ago(visit, published_at) };
}

export const deliveriesColumn: MessageColumn = {
  title: 'Deliveries',
  kind: 'number',
  cell: ({ delivery_count }) => count(delivery_count),
};
