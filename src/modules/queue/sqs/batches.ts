// SQS batches: up to ten entries, each with its own id and outcome.
import type { Problem } from '../../../problems/problem.ts';
import { failureOf, invalid, missing, refusal } from './failures.ts';
import { type Fields, isFields, optionalText } from './request.ts';

const ENTRIES_MAX = 10;
const ID = /^[A-Za-z0-9_-]{1,80}$/;

export interface Entry {
  readonly id: string;
  readonly fields: Fields;
}

/** Throws EmptyBatchRequest, TooManyEntriesInBatchRequest, InvalidBatchEntryId, BatchEntryIdsNotDistinct. */
export function batchEntries({ Entries: sent }: Fields): Entry[] {
  if (sent === undefined) throw refusal('EmptyBatchRequest', 'There should be at least one entry in the request.');
  if (!Array.isArray(sent)) throw invalid('Entries', 'It must be a list.');
  if (sent.length === 0) throw refusal('EmptyBatchRequest', 'There should be at least one entry in the request.');
  if (sent.length > ENTRIES_MAX) {
    throw refusal(
      'TooManyEntriesInBatchRequest',
      `Maximum number of entries per request are ${ENTRIES_MAX}. You have sent ${sent.length}.`,
    );
  }
  const entries = sent.map((each) => {
    if (!isFields(each)) throw invalid('Entries', 'Each entry must be a map.');
    const id = optionalText(each, 'Id');
    if (id === undefined) throw missing('Id');
    if (!ID.test(id)) {
      throw refusal('InvalidBatchEntryId', 'An id has 1 to 80 letters, digits, hyphens and underscores.', 'Id');
    }
    return { id, fields: each };
  });
  if (new Set(entries.map(({ id }) => id)).size < entries.length) {
    throw refusal('BatchEntryIdsNotDistinct', 'Two or more entries of the request have the same id.', 'Id');
  }
  return entries;
}

/** Does the work of each entry, at once; a failure is that of its entry. */
export async function batchOutcome(
  entries: readonly Entry[],
  work: (entry: Entry, index: number) => Promise<Fields>,
): Promise<Fields> {
  const settled = await Promise.allSettled(entries.map(work));
  const successful: Fields[] = [];
  const failed: Fields[] = [];
  for (const [i, outcome] of settled.entries()) {
    const { id: Id } = entries[i] as Entry;
    if (outcome.status === 'fulfilled') successful.push({ Id, ...outcome.value });
    else failed.push({ Id, ...failedEntry(outcome.reason) });
  }
  return { Successful: successful, Failed: failed };
}

function failedEntry(error: unknown): Fields {
  // What nobody foresaw fails the whole request, and is told and logged as such.
  if (!isProblem(error)) throw error;
  const { name, message, type } = failureOf(error);
  return { Code: name, Message: message, SenderFault: type === 'Sender' };
}

function isProblem(error: unknown): error is Problem {
  return error instanceof Error && error.name === 'Problem';
}
