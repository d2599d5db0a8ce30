// The AI module: language models and embeddings of many vendors behind one key, one price list and one wire.
import { defineModule } from '../../kit/module.ts';
import { batchSweeps } from './batches/early-end.ts';
import { batchEvents } from './batches/schemas.ts';
import { batchCounts, batchTable } from './batches/store.ts';
import { batchLoop } from './batches/work.ts';
import { AnswerCache, cacheSweep } from './cache/cache.ts';
import { ModelCallPlaces } from './calls/call-places.ts';
import { Pictures } from './calls/pictures.ts';
import { cancel } from './capabilities/batch/cancel.ts';
import { create } from './capabilities/batch/create.ts';
import { get } from './capabilities/batch/get.ts';
import { list } from './capabilities/batch/list.ts';
import { results } from './capabilities/batch/results.ts';
import { chat } from './capabilities/chat.ts';
import { countTokens } from './capabilities/count-tokens.ts';
import { embed } from './capabilities/embed.ts';
import { models } from './capabilities/models.ts';
import { usage } from './capabilities/usage.ts';
import { liveBatches } from './limits.ts';
import { messagesRoutes } from './messages/routes.ts';
import { aiFamily, aiModel } from './models/family.ts';
import { modelDaySweep } from './models/model-days.ts';
import { billedNanos } from './models/price.ts';
import { openaiRoutes } from './openai/routes.ts';
import { aiProblems } from './problems.ts';
import { responsesRoute } from './responses/route.ts';
import type { AiState } from './state.ts';
import type { AiUsage } from './vendors/port.ts';

/** Of the sandbox; vendors' prices stand in the operator's file. */
const token = { unit: 'token', nanosPerUnit: 10n };

export const ai = defineModule<AiState>({
  name: 'ai',
  summary: 'Language models and embeddings of many vendors, by the chat-completions wire or enveloped.',
  status: 'beta',
  shownBy: ['ai.chat', 'ai.embed'],
  clients: [
    {
      client: "OpenAI's clients",
      address: '{base_url}/v1',
      use: 'chat, responses, embeddings, models',
      serves: ['ai.chat', 'ai.embed', 'ai.models'],
    },
    {
      client: "Claude Code and Anthropic's clients",
      address: '{base_url}',
      use: 'messages, count_tokens, models',
      serves: ['ai.chat', 'ai.count_tokens', 'ai.models'],
    },
  ],
  capabilities: [chat, embed, models, usage, countTokens, create, get, list, results, cancel],
  console: async () => (await import('./console/index.ts')).aiConsole,
  prices: { 'ai.chat': token, 'ai.embed': token },
  limits: {
    ai_batches: { ...liveBatches, used: async (db, accountId) => (await batchCounts(db, accountId)).live },
  },
  problems: aiProblems,
  events: batchEvents,
  models: { ...aiFamily, billedNanos: (row, usage) => billedNanos(aiModel(row), usage as AiUsage, 0) },
  rawRoutes: [...openaiRoutes, responsesRoute, ...messagesRoutes],
  start: (core) => ({
    core,
    places: new ModelCallPlaces(core.underWay, core.limitsRates),
    cache: new AnswerCache(core),
    pictures: new Pictures(core.bounds.all.pictureBytesMax),
  }),
  isEmpty: batchTable.isEmpty,
  sweeps: ({ core }) => [cacheSweep(core), modelDaySweep(core), ...batchSweeps(core)],
  jobs: (state) => [batchLoop(state)],
});
