// Identity of a series: its labels, one of which is its name. The ID is a hash of them, so it is computed from a sample without a look-up.
import { hash } from 'node:crypto';
import { lruOf } from '../../../lib/lru.ts';

export const NAME_LABEL = '__name__';
export const SERIES_ID_BYTES = 16;
/** The first bytes of an ID are a hash of the name alone: series of one name lie together. */
const NAME_BYTES = 4;
const NAMES_REMEMBERED = 10_000;

/** Pairs sorted by label, without empty values. */
export type Labels = readonly (readonly [label: string, value: string])[];

export interface SeriesIdentity {
  /** Binary text, a character a byte. */
  readonly id: string;
  readonly name: string;
  /** The other labels as a JSON object, sorted: one text for one series. */
  readonly labels: string;
}

const nameHashes = lruOf<string>(NAMES_REMEMBERED);

/** The first characters of the IDs of all series of a name. */
export function nameHash(name: string): string {
  let known = nameHashes.get(name);
  if (known === undefined) {
    known = hash('sha256', name, 'binary').slice(0, NAME_BYTES);
    nameHashes.set(name, known);
  }
  return known;
}

/** `labels` are sorted, and hold neither the name nor empty values. */
export function identify(name: string, labels: Labels): SeriesIdentity {
  const text = jsonOf(labels);
  const rest = hash('sha256', `${name}\n${text}`, 'binary').slice(0, SERIES_ID_BYTES - NAME_BYTES);
  return { id: nameHash(name) + rest, name, labels: text };
}

function jsonOf(labels: Labels): string {
  let text = '{';
  for (const [label, value] of labels) {
    text += `${text.length === 1 ? '' : ','}${JSON.stringify(label)}:${JSON.stringify(value)}`;
  }
  return `${text}}`;
}

export function compareLabels([one]: readonly [string, string], [other]: readonly [string, string]): number {
  return one < other ? -1 : one > other ? 1 : 0;
}

/** What a question of series of this name asks blocks for. */
export function nameMark(name: string): string {
  return nameHash(name);
}

export function markOf(id: string): string {
  return id.slice(0, NAME_BYTES);
}

/** In which of the columns of a merged block the chunks of a series are: all series of a name are in one. */
export const BUCKETS = 64;
export function bucketOf(id: string): number {
  return id.charCodeAt(0) % BUCKETS;
}

export const idBytes = (id: string) => Buffer.from(id, 'latin1');
export const idOf = (bytes: Buffer) => bytes.toString('latin1');
