// Lifecycle and notifications of a bucket in XML: the same settings as those of storage.bucket.settings, which hold less than Amazon's. What they
// cannot hold is NotImplemented, never dropped.
import type { XmlBounds, XmlElement } from '../../../../lib/xml.ts';
import { malformed, notImplemented } from './refusals.ts';
import { childOf, childrenOf, readXml, requiredText, textOf, type XmlFields } from './xml.ts';

export interface ExpireRule {
  readonly prefix: string;
  readonly days: number;
}

export type NotifiedEvent = 'created' | 'deleted';
export interface Notify {
  readonly queue: string;
  readonly events: readonly NotifiedEvent[];
}

/** The settings of a bucket, as storage.bucket.get shows them. */
export interface BucketFields {
  readonly expire: readonly ExpireRule[];
  readonly notify: Notify | null;
}

/** A hundred rules: a bucket keeps fewer. */
const BOUNDS: XmlBounds = { bytesMax: 64 * 1_024, partsMax: 3_000 };
const DAYS = /^[1-9]\d{0,4}$/;
const RULE_PARTS: ReadonlySet<string> = new Set(['ID', 'Status', 'Prefix', 'Filter', 'Expiration']);
const EVENTS: Readonly<Record<NotifiedEvent, string>> = {
  created: 's3:ObjectCreated:*',
  deleted: 's3:ObjectRemoved:*',
};

/** Throws MalformedXML, NotImplemented. */
export function readLifecycle(body: Buffer): ExpireRule[] {
  const rules = childrenOf(readXml(body, 'LifecycleConfiguration', BOUNDS), 'Rule');
  if (rules.length === 0) throw malformed('LifecycleConfiguration needs a Rule.');
  return rules.map(ruleOf);
}

function ruleOf(rule: XmlElement): ExpireRule {
  const other = rule.children.find(({ name }) => !RULE_PARTS.has(name));
  if (other !== undefined) throw notImplemented(`${other.name} of a lifecycle rule`);
  const status = requiredText(rule, 'Status').trim();
  if (status === 'Disabled') throw notImplemented('A disabled lifecycle rule');
  if (status !== 'Enabled') throw malformed('Status of a rule is Enabled or Disabled.');
  const expiration = childOf(rule, 'Expiration');
  const days = expiration === undefined ? undefined : textOf(expiration, 'Days')?.trim();
  if (days === undefined) throw notImplemented('A lifecycle rule without Expiration in Days');
  if (!DAYS.test(days)) throw malformed('Days is a whole number from 1.');
  return { prefix: prefixOf(rule), days: Number(days) };
}

function prefixOf(rule: XmlElement): string {
  const filter = childOf(rule, 'Filter');
  const other = filter?.children.find(({ name }) => name !== 'Prefix');
  if (other !== undefined) throw notImplemented(`${other.name} in the Filter of a lifecycle rule`);
  return (filter === undefined ? textOf(rule, 'Prefix') : textOf(filter, 'Prefix')) ?? '';
}

export function lifecycleFields(rules: readonly ExpireRule[]): XmlFields {
  return {
    Rule: rules.map(({ prefix, days }, at) => ({
      ID: `expire-${at + 1}`,
      Filter: { Prefix: prefix },
      Status: 'Enabled',
      Expiration: { Days: days },
    })),
  };
}

/** Null: nobody is told. `queueOf`: the queue's name from its ARN. Throws MalformedXML, NotImplemented. */
export function readNotification(body: Buffer, queueOf: (arn: string) => string): Notify | null {
  const { children } = readXml(body, 'NotificationConfiguration', BOUNDS);
  const other = children.find(({ name }) => name !== 'QueueConfiguration');
  if (other !== undefined) throw notImplemented(`${other.name} of a bucket`);
  const [configuration, ...more] = children;
  if (configuration === undefined) return null;
  if (more.length > 0) throw notImplemented('More than one QueueConfiguration of a bucket');
  if (childOf(configuration, 'Filter') !== undefined) throw notImplemented('A Filter of notifications');
  const events = childrenOf(configuration, 'Event').map(({ text }) => eventOf(text.trim()));
  if (events.length === 0) throw malformed('QueueConfiguration needs an Event.');
  return { queue: queueOf(requiredText(configuration, 'Queue').trim()), events: [...new Set(events)] };
}

function eventOf(text: string): NotifiedEvent {
  const found = Object.entries(EVENTS).find(([, name]) => name === text);
  if (found === undefined) throw notImplemented(`The event ${text.slice(0, 60)}`);
  return found[0] as NotifiedEvent;
}

export function notificationFields(notify: Notify | null, arnOf: (queue: string) => string): XmlFields {
  if (notify === null) return {};
  const { queue, events } = notify;
  return { QueueConfiguration: { Id: queue, Queue: arnOf(queue), Event: events.map((event) => EVENTS[event]) } };
}
