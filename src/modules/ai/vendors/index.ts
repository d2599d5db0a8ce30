// The adapters of language models by the name that the configuration gives them. Adding one is a line here.
import { anthropicModels } from './anthropic/index.ts';
import { openaiModels } from './openai/index.ts';
import type { AiAdapter } from './port.ts';
import { sandboxModels } from './sandbox/index.ts';

export const aiAdapters: readonly AiAdapter[] = [anthropicModels, openaiModels, sandboxModels];
