// SQS in its two protocols behind one call: what goes in and comes out has the shape of the JSON protocol, so that one table of cases serves both.
import { expect } from 'vitest';
import { formRequest, type SqsReply, textOfXml } from '../support/sqs.ts';
import type { SqsBench } from './harness.ts';

// biome-ignore lint/suspicious/noExplicitAny: tests read answers of every shape
type Data = any;
type Input = Readonly<Record<string, unknown>>;

export interface WireAnswer {
  readonly status: number;
  /** As the JSON protocol spells it; null: no failure. */
  readonly code: string | null;
  /** The output; of a failure nothing. */
  readonly data: Data;
}

export interface Wire {
  readonly name: string;
  call(bench: SqsBench, action: string, input?: Input, headers?: Record<string, string>): Promise<WireAnswer>;
}

const json: Wire = {
  name: 'JSON',
  async call(bench, action, input = {}, headers = {}) {
    const { status, code, json: data } = await bench.json(action, input, headers);
    return { status, code, data: status === 200 ? (data ?? {}) : {} };
  },
};

const query: Wire = {
  name: 'forms',
  async call(bench, action, input = {}, headers = {}) {
    const request = formRequest([['Action', action], ['Version', '2012-11-05'], ...flattened(action, input)]);
    const reply = await bench.raw({ ...request, headers: { ...request.headers, ...headers } });
    return {
      status: reply.status,
      code: reply.status === 200 ? null : nameOf(reply),
      data: reply.status === 200 ? outputOf(action, reply.text) : {},
    };
  },
};

export const wires = [json, query];

/** Calls of one wire for whichever account `bench` answers at the time. */
export function callsOf(wire: Wire, bench: () => SqsBench) {
  const call = (action: string, input: Input = {}, headers: Record<string, string> = {}) =>
    wire.call(bench(), action, input, headers);
  return {
    call,
    /** The output of a call that must succeed. */
    async ok(action: string, input: Input = {}, headers: Record<string, string> = {}): Promise<Data> {
      const { status, code, data } = await call(action, input, headers);
      expect([status, code], action).toEqual([200, null]);
      return data;
    },
    /** Status and code of a call that must fail. */
    async failure(action: string, input: Input = {}): Promise<[number, string | null]> {
      const { status, code } = await call(action, input);
      return [status, code];
    },
  };
}

const OLD_NAMES: Record<string, string> = {
  NonExistentQueue: 'QueueDoesNotExist',
  QueueAlreadyExists: 'QueueNameExists',
};

function nameOf({ code }: SqsReply): string | null {
  const bare = code?.split('.').at(-1) ?? null;
  return bare === null ? null : (OLD_NAMES[bare] ?? bare);
}

const LISTS: Record<string, string> = {
  AttributeNames: 'AttributeName',
  MessageAttributeNames: 'MessageAttributeName',
  MessageSystemAttributeNames: 'MessageSystemAttributeName',
  TagKeys: 'TagKey',
  AWSAccountIds: 'AWSAccountId',
  Actions: 'ActionName',
};
/** Maps: what an entry is called, and its key. */
const MAPS: Record<string, readonly [string, string]> = {
  Attributes: ['Attribute', 'Name'],
  MessageAttributes: ['MessageAttribute', 'Name'],
  MessageSystemAttributes: ['MessageSystemAttribute', 'Name'],
  Tags: ['Tag', 'Key'],
  tags: ['Tag', 'Key'],
};

/** The fields of a form for an input. */
function flattened(action: string, input: unknown, prefix = ''): [string, string][] {
  if (typeof input !== 'object' || input === null) return [[prefix.slice(0, -1), String(input)]];
  return Object.entries(input).flatMap(([name, value]) => {
    const list = name === 'Entries' ? `${action}RequestEntry` : LISTS[name];
    const map = MAPS[name];
    if (list !== undefined)
      return (value as unknown[]).flatMap((item, n) => flattened(action, item, `${prefix}${list}.${n + 1}.`));
    if (map === undefined) return flattened(action, value, `${prefix}${name}.`);
    return Object.entries(value as object).flatMap(([key, item], n): [string, string][] => [
      [`${prefix}${map[0]}.${n + 1}.${map[1]}`, key],
      ...flattened(action, item, `${prefix}${map[0]}.${n + 1}.Value.`),
    ]);
  });
}

interface Element {
  readonly name: string;
  readonly children: Element[];
  text: string;
}

/** The tree of an answer in XML: elements and text, as this protocol has them. */
function parsed(xml: string): Element {
  const root: Element = { name: '', children: [], text: '' };
  const open = [root];
  for (const [, head, closing, name = '', selfClosing, text = ''] of xml.matchAll(
    /<(\?[^>]*\?|(\/?)([A-Za-z0-9]+)(?:\s[^>]*?)?(\/?))>([^<]*)/g,
  )) {
    if (head?.startsWith('?')) continue;
    if (closing === '/') {
      if (open.pop()?.name !== name) throw new TypeError(`not well formed at </${name}>: ${xml}`);
      continue;
    }
    const element: Element = { name, children: [], text: textOfXml(text) };
    open.at(-1)?.children.push(element);
    if (selfClosing !== '/') open.push(element);
  }
  if (open.length !== 1) throw new TypeError(`not closed: ${xml}`);
  return root;
}

/** What repeats in an output: its name in JSON. */
const REPEATED: Record<string, string> = {
  Message: 'Messages',
  BatchResultErrorEntry: 'Failed',
  ListMessageMoveTasksResultEntry: 'Results',
};
const ENTRIES: Record<string, string> = { Attribute: 'Attributes', MessageAttribute: 'MessageAttributes', Tag: 'Tags' };

function outputOf(action: string, xml: string): Data {
  const [response] = parsed(xml).children;
  if (response?.name !== `${action}Response`) throw new TypeError(`no answer to ${action}: ${xml}`);
  const result = response.children.find(({ name }) => name === `${action}Result`);
  return result === undefined ? {} : shapeOf(action, result);
}

function shapeOf(action: string, { children, text }: Element): Data {
  if (children.length === 0) return text;
  const made: Record<string, Data> = {};
  for (const child of children) {
    const repeated =
      child.name === `${action}ResultEntry` ? (REPEATED[child.name] ?? 'Successful') : REPEATED[child.name];
    const list = child.name === 'QueueUrl' && /^List/.test(action) ? listOfUrls(action) : repeated;
    const map = ENTRIES[child.name];
    if (list !== undefined) made[list] = [...(made[list] ?? []), shapeOf(action, child)];
    else if (map !== undefined) made[map] = { ...made[map], ...entryOf(action, child) };
    else made[child.name] = shapeOf(action, child);
  }
  return made;
}

const listOfUrls = (action: string) => (action === 'ListQueues' ? 'QueueUrls' : 'queueUrls');

function entryOf(action: string, { children }: Element): Record<string, Data> {
  const [key, value] = children;
  return key === undefined || value === undefined ? {} : { [key.text]: shapeOf(action, value) };
}
