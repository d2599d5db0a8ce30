// The sandbox as a vendor of models: an adapter of the same port, so that everything works with nothing configured.
import type { AiAdapter } from '../port.ts';
import { echo } from './echo.ts';
import { embed } from './ngram.ts';

export const sandboxModels: AiAdapter = {
  name: 'sandbox',
  modelFields: {},
  check: () => [],
  chat: echo,
  embed,
};
