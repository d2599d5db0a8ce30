// Conditions of a request as its headers say them (RFC 9110, section 13); what they mean stands in core/objects/conditions.ts.
import type { IncomingHttpHeaders } from 'node:http';
import { type Conditions, judgeConditions } from '../../../../core/objects/conditions.ts';
import { refused } from './refusals.ts';

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
  if (list === undefined) return {};
  const bare = (tag: string) => tag.trim().replace(/^W\//, '').replaceAll(/^"|"$/g, '');
  return { [name]: list.split(',').map(bare) };
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
  throw refused('PreconditionFailed', 'The source of the copy is not the one that its conditions name.');
}
