// Per-process state of the ai module.
import type { Services } from '../../kit/services.ts';
import type { AnswerCache } from './cache/cache.ts';
import type { ModelCallPlaces } from './calls/call-places.ts';
import type { Pictures } from './calls/pictures.ts';

export interface AiState {
  readonly core: Services;
  readonly places: ModelCallPlaces;
  readonly cache: AnswerCache;
  readonly pictures: Pictures;
}
