// What the module ai keeps in one process.
import type { Services } from '../../kit/services.ts';
import type { AnswerCache } from './cache/cache.ts';
import type { Pictures } from './calls/pictures.ts';
import type { CallSlots } from './calls/slots.ts';

export interface AiState {
  readonly core: Services;
  readonly slots: CallSlots;
  readonly cache: AnswerCache;
  readonly pictures: Pictures;
}
