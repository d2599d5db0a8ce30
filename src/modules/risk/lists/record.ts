// An entry as it is shown.
import { iso, isoOrNull } from '../../../lib/time.ts';
import type { EntryRow } from './entries.ts';

export function entryRecord({ list, kind, value, note, created_at, expires_at }: EntryRow) {
  return { list, kind, value, note, created_at: iso(created_at), expires_at: isoOrNull(expires_at) };
}
