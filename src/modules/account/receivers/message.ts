// A request as the message that it becomes. Its body is JSON as it was sent, the fields of a form, text, or base64.
import type { IncomingHttpHeaders } from 'node:http';
import { nesting } from '../../../lib/json-source.ts';
import { JsonText, toJson } from '../../../lib/json-text.ts';
import { PARSED_BYTES_MAX } from './limits.ts';
import { headerOf, type Named } from './schemes.ts';

/** Those of a request that say something of its content. Signatures, tokens, cookies and what proxies add are left out. */
const headersKept: readonly string[] = [
  ...['content-type', 'user-agent', 'webhook-id', 'webhook-timestamp', 'svix-id', 'svix-timestamp', 'date'],
  ...['x-github-event', 'x-github-delivery', 'x-github-hook-id', 'x-github-hook-installation-target-id'],
  ...['x-github-hook-installation-target-type', 'x-github-enterprise-host', 'x-github-enterprise-version'],
  ...['x-gitlab-event', 'x-gitlab-event-uuid', 'x-gitlab-instance', 'x-gitea-event', 'x-gitea-delivery'],
  ...['x-shopify-topic', 'x-shopify-shop-domain', 'x-shopify-webhook-id', 'x-shopify-api-version'],
  ...['x-shopify-triggered-at', 'x-slack-request-timestamp', 'x-slack-retry-num', 'x-slack-retry-reason'],
  ...['x-event-key', 'x-event-type', 'x-event-id', 'x-event', 'x-delivery-id', 'idempotency-key'],
  ...['ce-id', 'ce-source', 'ce-type', 'ce-subject', 'ce-time', 'ce-specversion', 'ce-dataschema', 'traceparent'],
];

/** As many levels as every body of the service; the message is one of them. */
const DEPTH_MAX = 30;
const CONTAINERS_MAX = 50_000;
const FIELDS_MAX = 1_000;

/** A body that was read. */
export interface ReadBody {
  /** JSON or the fields of a form; undefined: it is neither. */
  readonly value: unknown;
  /** Member of the message, as JSON: `body` or `body_base64`. */
  readonly member: string;
}

/** Of at most `PARSED_BYTES_MAX` bytes. Costs some milliseconds. */
export function readBody(headers: IncomingHttpHeaders, bytes: Buffer): ReadBody {
  if (bytes.length > PARSED_BYTES_MAX) throw new RangeError('a body of this length is not read');
  const text = textOf(bytes);
  if (text === null) return { value: undefined, member: `"body_base64":"${bytes.toString('base64')}"` };
  if (/^application\/x-www-form-urlencoded\b/i.test(headerOf(headers, 'content-type') ?? '')) {
    const value = formOf(text);
    if (value !== null) return { value, member: `"body":${JSON.stringify(value)}` };
  }
  const value = jsonOf(text);
  return { value, member: `"body":${value === undefined ? JSON.stringify(text) : text.trim()}` };
}

/** Null: it is no text, or holds what PostgreSQL does not take. */
function textOf(bytes: Buffer): string | null {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return text.includes('\0') ? null : text;
  } catch {
    return null;
  }
}

/** Undefined: it is none, or more than a message may hold. */
function jsonOf(text: string, depthMax = DEPTH_MAX): unknown {
  const { depth, containers } = nesting(text);
  if (depth > depthMax || containers > CONTAINERS_MAX) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** A name that comes twice is a list; the JSON in Slack's `payload` is read. Null: too many fields. */
function formOf(text: string): Readonly<Record<string, unknown>> | null {
  if (text.split('&', FIELDS_MAX + 1).length > FIELDS_MAX) return null;
  const fields = Map.groupBy(new URLSearchParams(text), ([name]) => name);
  const members = [...fields].map(([name, pairs]) => {
    const values = pairs.map(([, value]) => value);
    const [first = ''] = values;
    const value = values.length > 1 ? values : name === 'payload' ? (jsonOf(first, DEPTH_MAX - 1) ?? first) : first;
    return [name, value] as const;
  });
  return Object.fromEntries(members);
}

export interface MessageParts {
  readonly receiverId: string;
  readonly name: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: ReadBody;
  readonly named: Named;
  readonly receivedAt: string;
}

export function messageOf({ receiverId, name, headers, body, named, receivedAt }: MessageParts): JsonText {
  const before = toJson({ receiver_id: receiverId, name, event: named.event, delivery_id: named.deliveryId });
  const rest = toJson({ headers: keptHeaders(headers), received_at: receivedAt });
  return new JsonText(`${before.slice(0, -1)},${rest.slice(1, -1)},${body.member}}`);
}

export function keptHeaders(headers: IncomingHttpHeaders): Readonly<Record<string, string>> {
  return Object.fromEntries(
    headersKept.flatMap((name) => {
      const value = headerOf(headers, name);
      return value === null ? [] : [[name, value.toWellFormed()]];
    }),
  );
}
