// Page metadata and failures in Firecrawl's format.
import { json } from '../../../kit/openai-wire.ts';
import type { RawAnswer } from '../../../kit/raw-route.ts';
import type { Problem } from '../../../problems/problem.ts';

interface Told {
  readonly url: string;
  readonly status: number | null;
  readonly title: string | null;
  readonly description: string | null;
  readonly language: string | null;
  readonly contentType?: string | null;
}

/** `sourceUrl`: as it was asked for. */
export function metadataOf({ url, status, title, description, language, contentType }: Told, sourceUrl: string) {
  return {
    sourceURL: sourceUrl,
    url,
    statusCode: status,
    ...(title !== null && { title }),
    ...(description !== null && { description }),
    ...(language !== null && { language }),
    ...(contentType != null && { contentType }),
  };
}

export function refuse({ code, httpStatus, message, param, retryAfterMs }: Problem): RawAnswer {
  const wait: Record<string, string> =
    retryAfterMs === undefined ? {} : { 'retry-after': String(Math.max(1, Math.ceil(retryAfterMs / 1_000))) };
  return json(
    { success: false, error: message, code, ...(param !== undefined && { details: { param } }) },
    httpStatus,
    wait,
  );
}
