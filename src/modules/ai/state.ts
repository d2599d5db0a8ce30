// What the module ai keeps in one process.
import type { Core } from '../../core/context.ts';
import type { AnswerCache } from './cache/cache.ts';
import type { ModelCallPlaces } from './calls/call-places.ts';
import type { Pictures } from './calls/pictures.ts';

export interface AiState {
  readonly core: Core;
  readonly places: ModelCallPlaces;
  readonly cache: AnswerCache;
  readonly pictures: Pictures;
}
