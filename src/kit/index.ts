// What an author of a module imports: everything to describe its operations, rows, events, errors and settings. Pages of its console import
// kit/console, and what few modules need stands in the files beside this one.
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
