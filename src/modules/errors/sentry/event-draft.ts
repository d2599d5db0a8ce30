// An SDK's event as a draft (develop.sentry.dev/sdk/data-model/event-payloads). Everything is optional; what is of a wrong kind is left out.

import { cleanJson, firstCharacters } from '../../../lib/clean-text.ts';
import { iso } from '../../../lib/time.ts';
import {
  type Breadcrumb,
  type EventDraft,
  type ExceptionRecord,
  type JsonObject,
  trimBreadcrumbs,
} from '../intake/draft.ts';
import { groupingOf } from '../intake/fingerprint.ts';
import { instantOf, listOf, NumberSource, objectOf, objectsOf, textOf } from '../intake/lenient.ts';
import { identityOf } from '../intake/user-identity.ts';
import {
  type Environment,
  environments,
  LABEL_CHARACTERS_MAX,
  type Level,
  NAME_CHARACTERS_MAX,
  NO_EXCEPTION_TYPE,
  TAGS_MAX,
  TITLE_CHARACTERS,
} from '../limits.ts';
import { exceptionOf, exceptionsSent, framesOf } from './exceptions.ts';
import { messageOf, templateOf } from './log-entry.ts';
import { AGE_MS_MAX, AHEAD_MS_MAX, FINGERPRINT_PARTS_MAX } from './numbers.ts';

const UNTITLED = 'Error';
const levelNames: Readonly<Record<string, Level>> = {
  debug: 'debug',
  info: 'info',
  log: 'info',
  warning: 'warning',
  warn: 'warning',
  error: 'error',
  fatal: 'fatal',
  critical: 'fatal',
};
/** Fields that Sentry itself shows as tags. */
const tagFields = ['transaction', 'server_name', 'logger', 'dist', 'site'];

/** `text`: the JSON of the event. */
export function draftOfEvent(event: JsonObject, nowMs: number, text: string): EventDraft {
  const message = messageOf(event);
  const exceptions = exceptionsSent(event.exception);
  const exception = exceptionOf(exceptions);
  const environment = textOf(event.environment);
  const user = objectOf(event.user);
  const { userId, contact } = identityOf(user, ['id', 'username'], new NumberSource(text));
  const contexts = objectOf(event.contexts) ?? {};
  const { runtime, ...context } = contexts;
  const modules = objectOf(event.modules);
  return {
    grouping: groupingOfEvent(event, exceptions.at(-1)),
    ...cleanJson({
      level: levelOf(event.level) ?? 'error',
      title: titleOf(exceptions.at(-1), message),
      message,
      environment: isEnvironment(environment) ? environment : null,
      release: labelOf(event.release),
      user_id: userId,
      contact,
      tags: tagsOf(event, environment),
      occurredAtMs: occurredAt(event.timestamp, nowMs),
      exception: exception ?? stackOf(event, message),
      breadcrumbs: objectsOf(trimBreadcrumbs(listOf(event.breadcrumbs))).map(breadcrumbOf),
      context: modules === null ? context : { modules, ...context },
      extra: objectOf(event.extra) ?? {},
      sdk: objectOf(event.sdk),
      runtime: objectOf(runtime) ?? platformOf(event.platform),
      request: objectOf(event.request),
      user,
    }),
  };
}

/** Fingerprint, else the exception thrown, else the message before its parameters are filled in. */
function groupingOfEvent(event: JsonObject, thrown: JsonObject | undefined) {
  return groupingOf({
    fingerprint: fingerprintOf(event.fingerprint),
    message: thrown === undefined ? templateOf(event) : null,
    exceptionType: textOf(thrown?.type),
    exceptionValue: textOf(thrown?.value),
    title: null,
    code: null,
  });
}

function fingerprintOf(sent: unknown): string | string[] | null {
  if (!Array.isArray(sent)) return textOf(sent);
  return sent
    .slice(0, FINGERPRINT_PARTS_MAX)
    .map(textOf)
    .filter((part) => part !== null);
}

function titleOf(thrown: JsonObject | undefined, message: string | null): string {
  const text = [textOf(thrown?.type), textOf(thrown?.value)].filter(Boolean).join(': ');
  return firstCharacters(text || message || UNTITLED, TITLE_CHARACTERS);
}

/** A message may come with the place it was sent from. */
function stackOf({ stacktrace, threads }: JsonObject, message: string | null): ExceptionRecord | null {
  const sent = objectsOf(threads);
  const thread =
    sent.find(({ crashed }) => crashed === true) ?? sent.find(({ current }) => current === true) ?? sent[0];
  const frames = framesOf(stacktrace ?? thread?.stacktrace);
  return frames.length === 0 ? null : { type: NO_EXCEPTION_TYPE, value: message ?? '', stacktrace: frames };
}

/** The first 100. What the program set as a tag goes before a field of that name. */
function tagsOf(event: JsonObject, environment: string | null): Record<string, string> {
  const tags = new Map<string, string>();
  const add = (key: unknown, sentValue: unknown) => {
    const [name, value] = [textOf(key), textOf(sentValue)];
    if (name !== null && value !== null) tags.set(firstCharacters(name, NAME_CHARACTERS_MAX), value);
    return tags.size < TAGS_MAX;
  };
  if (!isEnvironment(environment)) add('environment', environment);
  for (const name of tagFields) add(name, event[name]);
  const sent = Array.isArray(event.tags) ? event.tags.values() : Object.entries(objectOf(event.tags) ?? {});
  for (const pair of sent) {
    const { key, value } = objectOf(pair) ?? {};
    if (!(Array.isArray(pair) ? add(pair[0], pair[1]) : add(key, value))) break;
  }
  return Object.fromEntries(tags);
}

function isEnvironment(name: string | null): name is Environment {
  return (environments as readonly (string | null)[]).includes(name);
}

function levelOf(sent: unknown): Level | null {
  const name = typeof sent === 'string' ? sent.toLowerCase() : '';
  return Object.hasOwn(levelNames, name) ? (levelNames[name] as Level) : null;
}

function labelOf(sent: unknown): string | null {
  const text = textOf(sent);
  return text === null ? null : firstCharacters(text, LABEL_CHARACTERS_MAX);
}

/** Null, which is when it was received, for clocks that are far off. */
function occurredAt(sent: unknown, nowMs: number): number | null {
  const ms = instantOf(sent);
  return ms === null || ms < nowMs - AGE_MS_MAX || ms > nowMs + AHEAD_MS_MAX ? null : ms;
}

function breadcrumbOf(sent: JsonObject): Breadcrumb {
  const atMs = instantOf(sent.timestamp);
  const level = levelOf(sent.level);
  return {
    at: atMs === null ? null : iso(atMs),
    category: textOf(sent.category) ?? textOf(sent.type) ?? '',
    message: textOf(sent.message) ?? '',
    level: level === 'fatal' ? 'critical' : level,
    data: objectOf(sent.data),
  };
}

function platformOf(sent: unknown): JsonObject | null {
  const name = textOf(sent);
  return name === null ? null : { name };
}
