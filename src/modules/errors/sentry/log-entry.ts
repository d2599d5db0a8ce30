// The message of an event: the template and parameters of a log line, filled in where the SDK did not do so
// (develop.sentry.dev/sdk/data-model/event-payloads/message).
import type { JsonObject } from '../intake/draft.ts';
import { objectOf, textOf } from '../intake/lenient.ts';

/** `%s`, `%5.2f`, `%(name)s`, `%%` */
const PERCENT = /%(?:\(([^()]{1,200})\))?[-+#0]{0,5}\d{0,5}(?:\.\d{0,5})?[hlL]?([sdiufFeEgGxXoOrac@%])/g;
/** `{}`, `{0}`, `{name}`, `{0:x}` */
const BRACES = /\{([^{}:!]{0,200})(?:[:!][^{}]{0,50})?\}/g;
/** One parameter may stand in a template many times: beyond so many characters the rest stays as it is. */
const FILLED_CHARACTERS_MAX = 64 * 1024;

interface LogEntry {
  readonly template: string | null;
  readonly formatted: string | null;
}

/** The message as it is read; null when none was sent. */
export function messageOf(event: JsonObject): string | null {
  const { template, formatted } = entryOf(event);
  return formatted ?? template ?? textOf(event.message);
}

/** The message before its parameters are filled in: alike for all events of one log line. */
export function templateOf(event: JsonObject): string | null {
  const { template, formatted } = entryOf(event);
  return template ?? formatted ?? textOf(event.message);
}

function entryOf({ logentry, message }: JsonObject): LogEntry {
  const entry = objectOf(logentry) ?? objectOf(message);
  const template = textOf(entry?.message);
  return { template, formatted: textOf(entry?.formatted) ?? fillTemplate(template, entry?.params) };
}

/** Null where there is nothing to fill in. A place that no parameter is for stays as it is. */
function fillTemplate(template: string | null, params: unknown): string | null {
  if (template === null || params === null || typeof params !== 'object' || Object.keys(params).length === 0)
    return null;
  const filling = new Filling(params as JsonObject);
  const text = template.replace(PERCENT, (place, name: string | undefined, kind: string) =>
    kind === '%' ? '%' : filling.at(place, name ?? ''),
  );
  if (filling.isBegun) return text;
  const inBraces = template.replace(BRACES, (place, name: string) => filling.at(place, name));
  return filling.isBegun ? inBraces : null;
}

class Filling {
  readonly #params: JsonObject;
  #next = 0;
  #room = FILLED_CHARACTERS_MAX;
  isBegun = false;

  constructor(params: JsonObject) {
    this.#params = params;
  }

  /** The parameter of that name or, without one, the next in the list. */
  at(place: string, name: string): string {
    if (this.#room < 0) return place;
    const index = name === '' ? String(this.#next) : name;
    if (!Object.hasOwn(this.#params, index)) return place;
    if (name === '') this.#next += 1;
    const value = this.#params[index];
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    this.#room -= text.length;
    if (this.#room < 0) return place;
    this.isBegun = true;
    return text;
  }
}
