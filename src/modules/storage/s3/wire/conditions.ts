// Parser for conditional request headers (RFC 9110, section 13); objects/conditions.ts evaluates them.
import type { IncomingHttpHeaders } from 'node:http';
import { type Conditions, judgeConditions, type RemovalConditions } from '../../../../objects/conditions.ts';
import { notImplemented, refusal } from './refusals.ts';

/** Of a read. */
export function conditionsOf(headers: IncomingHttpHeaders): Conditions {
  return conditionsNamed((name) => headers[`if-${name}`] as string | undefined);
}

function conditionsNamed(of: (name: string) => string | undefined): Conditions {
  return {
    ...tags('ifMatch', of('match')),
    ...tags('ifNoneMatch', of('none-match')),
    ...instant('ifModifiedSinceMs', of('modified-since')),
    ...instant('ifUnmodifiedSinceMs', of('unmodified-since')),
  };
}

/** Clients write tags without quotes too, and weak ones, which none of ours is. */
function tags(name: string, list: string | undefined): object {
  return list === undefined ? {} : { [name]: list.split(',').map(bareTag) };
}

function bareTag(tag: string): string {
  return tag.trim().replace(/^W\//, '').replaceAll(/^"|"$/g, '');
}

/** What is no date is no condition. */
function instant(name: string, date: string | undefined): object {
  const ms = Date.parse(date ?? '');
  return Number.isNaN(ms) ? {} : { [name]: ms };
}

/** Of a write, whose dates say nothing. */
export function writeConditionsOf(headers: IncomingHttpHeaders): Conditions {
  const { ifMatch, ifNoneMatch } = conditionsOf(headers);
  return { ...(ifMatch === undefined ? {} : { ifMatch }), ...(ifNoneMatch === undefined ? {} : { ifNoneMatch }) };
}

/** What a request says of an object that it deletes, in its headers or beside a key. */
export interface SaidOfDeleted {
  readonly etag: string | undefined;
  readonly size: string | undefined;
  readonly changed: string | undefined;
}

/** Of a delete. Throws InvalidArgument, and NotImplemented for a condition that would not be looked at. */
export function deleteConditionsOf(headers: IncomingHttpHeaders): RemovalConditions {
  const unserved = ['if-none-match', 'if-modified-since', 'if-unmodified-since'].find((name) => name in headers);
  if (unserved !== undefined) throw notImplemented(`${unserved} of a delete`);
  return deleteConditions({
    etag: headers['if-match'],
    size: headers['x-amz-if-match-size'] as string | undefined,
    changed: headers['x-amz-if-match-last-modified-time'] as string | undefined,
  });
}

/** Throws InvalidArgument: what cannot be read must not pass for no condition. */
export function deleteConditions({ etag, size, changed }: SaidOfDeleted): RemovalConditions {
  return {
    ...tags('ifMatch', etag),
    ...(size === undefined ? {} : { ifBytes: sizeOf(size.trim()) }),
    ...(changed === undefined ? {} : { ifUpdatedMs: timeOf(changed.trim()) }),
  };
}

function sizeOf(text: string): bigint {
  if (/^\d{1,15}$/.test(text)) return BigInt(text);
  throw refusal('InvalidArgument', 'The size that an object must have is a number of bytes.');
}

function timeOf(text: string): number {
  const ms = Date.parse(text);
  if (!Number.isNaN(ms)) return ms;
  throw refusal('InvalidArgument', 'The time of the last change that an object must have is no date.');
}

/** What a copy asks of its source. */
export function sourceConditionsOf(headers: IncomingHttpHeaders): Conditions {
  return conditionsNamed((name) => headers[`x-amz-copy-source-if-${name}`] as string | undefined);
}

/** Throws PreconditionFailed. */
export function requireSource(
  headers: IncomingHttpHeaders,
  source: { readonly etag: string; readonly updated_at: number },
): void {
  if (judgeConditions(sourceConditionsOf(headers), source) === null) return;
  throw refusal('PreconditionFailed', 'The source of the copy is not the one that its conditions name.');
}
