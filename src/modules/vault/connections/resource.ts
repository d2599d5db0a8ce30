// Connections as a resource of the API.
import type { CallContext } from '../../../kit/services.ts';
import { connectionField, connectionSchema } from '../schemas.ts';
import type { VaultState } from '../state.ts';
import { connectionMissing } from './missing.ts';
import { type ConnectionRow, connectionRecord } from './row.ts';
import { openedHeaders } from './set.ts';
import { connectionTable } from './store.ts';

export const connections = {
  ...connectionTable,
  noun: 'connection',
  keyName: 'connection',
  keyField: connectionField,
  output: connectionSchema,
  show: (row: ConnectionRow, { ctx }: { readonly ctx: CallContext; readonly state: VaultState }) =>
    connectionRecord(row, Date.now(), headerNamesOf(ctx, row)),
  notFound: () => connectionMissing('of this name'),
};

/** Of a row that was tampered with nothing is known. */
function headerNamesOf({ core }: CallContext, row: ConnectionRow): string[] {
  try {
    return Object.keys(openedHeaders(core.secrets, row));
  } catch {
    return [];
  }
}
