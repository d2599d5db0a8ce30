// Lifecycle and notifications of a bucket in XML: the settings of storage.bucket.settings, which hold less than Amazon's. What they cannot hold
// is NotImplemented, never dropped; a read returns what was put, as it was put.
import type { IncomingHttpHeaders } from 'node:http';
import { newId } from '../../../../lib/ids.ts';
import type { XmlBounds, XmlElement } from '../../../../lib/xml.ts';
import {
  LIFECYCLE_DAYS_MAX,
  LIFECYCLE_RULES_MAX,
  type Lifecycle,
  type LifecycleRule,
  TRANSITION_MINIMA,
  type TransitionMinimum,
} from '../../buckets/lifecycle.ts';
import { KEY_BYTES_MAX } from './operation.ts';
import { malformedXml, notImplemented, refusal } from './refusals.ts';
import { childOf, childrenOf, readXml, requiredText, textOf, type XmlFields } from './xml.ts';

export type NotifiedEvent = 'created' | 'deleted';
export interface Notify {
  readonly queue: string;
  readonly events: readonly NotifiedEvent[];
}

/** A hundred rules: a bucket keeps fewer. */
const BOUNDS: XmlBounds = { bytesMax: 64 * 1_024, partsMax: 3_000 };
const ID_CHARACTERS_MAX = 255;
const RULE_PARTS = ['ID', 'Status', 'Prefix', 'Filter', 'Expiration', 'AbortIncompleteMultipartUpload'];
const EVENTS: Readonly<Record<NotifiedEvent, string>> = {
  created: 's3:ObjectCreated:*',
  deleted: 's3:ObjectRemoved:*',
};

/** Throws InvalidArgument, InvalidRequest, MalformedXML, NotImplemented. */
export function readLifecycle(body: Buffer): LifecycleRule[] {
  const rules = childrenOf(readXml(body, 'LifecycleConfiguration', BOUNDS), 'Rule').map(ruleOf);
  if (rules.length === 0) throw malformedXml('LifecycleConfiguration needs a Rule.');
  if (rules.length > LIFECYCLE_RULES_MAX) {
    throw refusal('InvalidArgument', `A bucket has at most ${LIFECYCLE_RULES_MAX} lifecycle rules.`);
  }
  const ids = new Set<string>();
  for (const { id } of rules) {
    if (ids.has(id)) throw refusal('InvalidArgument', `Rule ID must be unique. Two rules have the ID ${id}.`);
    ids.add(id);
  }
  return rules;
}

function ruleOf(rule: XmlElement): LifecycleRule {
  refuseOthers(rule, RULE_PARTS, 'a lifecycle rule');
  const expireDays = expireDaysOf(childOf(rule, 'Expiration'));
  const abortDays = abortDaysOf(childOf(rule, 'AbortIncompleteMultipartUpload'));
  if (expireDays === null && abortDays === null) {
    throw refusal('InvalidRequest', 'A rule needs Expiration or AbortIncompleteMultipartUpload.');
  }
  return { id: idOf(rule), isEnabled: isEnabled(rule), ...scopeOf(rule), expireDays, abortDays };
}

function refuseOthers({ children }: XmlElement, names: readonly string[], of: string): void {
  const other = children.find(({ name }) => !names.includes(name));
  if (other !== undefined) throw notImplemented(`${other.name} of ${of}`);
}

/** A rule without an ID gets one, which it keeps. */
function idOf(rule: XmlElement): string {
  const id = textOf(rule, 'ID') ?? '';
  if (id === '') return newId('rule_');
  if ([...id].length <= ID_CHARACTERS_MAX) return id;
  throw refusal('InvalidArgument', `ID length should not exceed allowed limit of ${ID_CHARACTERS_MAX}.`);
}

function isEnabled(rule: XmlElement): boolean {
  const status = requiredText(rule, 'Status').trim();
  if (status === 'Enabled' || status === 'Disabled') return status === 'Enabled';
  throw malformedXml('Status of a rule is Enabled or Disabled.');
}

function scopeOf(rule: XmlElement): Pick<LifecycleRule, 'form' | 'prefix'> {
  const filter = childOf(rule, 'Filter');
  const own = textOf(rule, 'Prefix');
  if (filter === undefined) return { form: own === undefined ? 'none' : 'prefix', prefix: checkedPrefix(own) };
  if (own !== undefined) throw malformedXml('A rule has a Filter or a Prefix, not both.');
  refuseOthers(filter, ['Prefix'], 'the Filter of a lifecycle rule');
  const inside = textOf(filter, 'Prefix');
  return { form: inside === undefined ? 'filter' : 'filter_prefix', prefix: checkedPrefix(inside) };
}

function checkedPrefix(prefix = ''): string {
  if (Buffer.byteLength(prefix) <= KEY_BYTES_MAX) return prefix;
  throw refusal('InvalidArgument', `The Prefix of a rule has at most ${KEY_BYTES_MAX} bytes in UTF-8.`);
}

function expireDaysOf(expiration: XmlElement | undefined): number | null {
  if (expiration === undefined) return null;
  refuseOthers(expiration, ['Days', 'ExpiredObjectDeleteMarker'], 'Expiration');
  const marker = textOf(expiration, 'ExpiredObjectDeleteMarker')?.trim() ?? 'false';
  if (marker !== 'false') throw notImplemented('ExpiredObjectDeleteMarker of Expiration');
  return daysOf(expiration, 'Days');
}

function abortDaysOf(abort: XmlElement | undefined): number | null {
  if (abort === undefined) return null;
  refuseOthers(abort, ['DaysAfterInitiation'], 'AbortIncompleteMultipartUpload');
  return daysOf(abort, 'DaysAfterInitiation');
}

function daysOf(element: XmlElement, name: string): number {
  const text = requiredText(element, name).trim();
  if (!/^-?\d+$/.test(text)) throw malformedXml(`${name} is a whole number.`);
  const days = Number(text);
  if (days >= 1 && days <= LIFECYCLE_DAYS_MAX) return days;
  throw refusal(
    'InvalidArgument',
    `${name} of ${element.name} must be a positive integer up to ${LIFECYCLE_DAYS_MAX}.`,
  );
}

export function lifecycleFields({ rules }: Lifecycle): XmlFields {
  return { Rule: rules.map(ruleFields) };
}

function ruleFields({ id, isEnabled: isOn, form, prefix, expireDays, abortDays }: LifecycleRule): XmlFields {
  return {
    ID: id,
    ...(form === 'prefix' ? { Prefix: prefix } : {}),
    ...(form === 'filter' ? { Filter: {} } : {}),
    ...(form === 'filter_prefix' ? { Filter: { Prefix: prefix } } : {}),
    Status: isOn ? 'Enabled' : 'Disabled',
    ...(expireDays === null ? {} : { Expiration: { Days: expireDays } }),
    ...(abortDays === null ? {} : { AbortIncompleteMultipartUpload: { DaysAfterInitiation: abortDays } }),
  };
}

const TRANSITION_HEADER = 'x-amz-transition-default-minimum-object-size';

/** Throws InvalidRequest. */
export function transitionMinimumOf(headers: IncomingHttpHeaders): TransitionMinimum {
  const sent = headers[TRANSITION_HEADER] ?? TRANSITION_MINIMA[0];
  const found = TRANSITION_MINIMA.find((each) => each === sent);
  if (found !== undefined) return found;
  throw refusal('InvalidRequest', `${TRANSITION_HEADER} is ${TRANSITION_MINIMA.join(' or ')}.`);
}

export function lifecycleHeaders({ transitionMinimum }: Lifecycle): Record<string, string> {
  return { [TRANSITION_HEADER]: transitionMinimum };
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
  if (events.length === 0) throw malformedXml('QueueConfiguration needs an Event.');
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
