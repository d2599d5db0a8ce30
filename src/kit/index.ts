// The imports for authors of modules: descriptions of operations, rows, events, errors and settings. Pages of a module's console import
// kit/console; rarely needed parts are in the other files of this folder.
export type { Variables } from '../config/variables.ts';
export type { CountedLimit } from '../core/callers/tiers.ts';
export { runWrite } from '../core/idempotency/write.ts';
export type { Queryable, Transaction } from '../db/database.ts';
export { statement } from '../db/statement.ts';
export { timestamp } from '../db/types.ts';
export { newId } from '../lib/ids.ts';
export { iso, isoOrNull } from '../lib/time.ts';
export { problemEntry } from '../problems/catalogue.ts';
export { invalidField, problem, problemsWith } from '../problems/problem.ts';
export { defineCapability } from './capability.ts';
export { type EventKind, eventKind, inWords, member, membersOf, tellEvent } from './event-kind.ts';
export {
  instant,
  instantOrNull,
  orNull,
  plainText,
  plainTextOrNull,
  textOrNull,
  whole,
  wholeOrNull,
} from './fields.ts';
export { finder } from './finder.ts';
export { defineModule } from './module.ts';
export { paidWrite } from './paid-write.ts';
export {
  type Changeable,
  changeOf,
  deleteOf,
  getOf,
  listOf,
  type Resource,
  requireRoom,
  requireRow,
  resourceTable,
  rowSaver,
} from './resource.ts';
export { rowsSaver } from './rows.ts';
export type { CallContext, Services } from './services.ts';
export type { TenantFixture } from './tenant-fixture.ts';
