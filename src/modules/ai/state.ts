// What the module ai keeps in one process.
import type { Core } from '../../core/context.ts';
import type { AnswerCache } from './cache/cache.ts';
import type { Pictures } from './calls/pictures.ts';
import type { CallSlots } from './calls/slots.ts';

export interface AiState {
  readonly core: Core;
  readonly slots: CallSlots;
  readonly cache: AnswerCache;
  readonly pictures: Pictures;
}
