// Choice of models for a call by the features that it needs, and the output limit sent to each.

import type { Services } from '../../../kit/services.ts';
import { invalidField, type Problem, problem } from '../../../problems/problem.ts';
import type { Chain } from '../../../routing/walk.ts';
import type { ModelRow } from '../../../vendors/file/port.ts';
import type { ChatAsk, Routed } from '../calls/ask.ts';
import { ownWireOf } from '../calls/own-wires.ts';
import { INPUT_MARGIN } from '../limits.ts';
import type { AiAdapter, AiLack } from '../vendors/port.ts';
import { type AiModel, aiModel, CHAT, EMBED } from './family.ts';
import { comparedNanos, mostNanos } from './price.ts';

/** The field of the request that asks for what the model cannot do. */
type Unable = 'tools' | 'images' | 'response_format' | 'max_tokens' | 'messages' | AiLack;

/** Throws what `choose` of vendors throws, and VALIDATION_FAILED for what no model that may be asked can do. */
export async function chooseForChat(core: Services, accountId: string, ask: ChatAsk): Promise<Chain> {
  const excluded = await core.vendors.routing.excludedVendors(accountId, CHAT);
  const choice = core.vendors.choose(
    {
      capability: CHAT,
      model: ask.model,
      vendor: ask.vendor,
      crossRegion: ask.crossRegion,
      unable: (row) => unableToChat(aiModel(row), ask) ?? unsayable(core, row, ask),
      quote: (row) => {
        const model = aiModel(row);
        return mostNanos(model, { ...sizeOf(ask, model), outputTokens: outputTokensOf(model, ask) });
      },
      compared: (row) => comparedNanos(aiModel(row)),
    },
    excluded,
  );
  if (choice.kind === 'unable') throw cannot(choice.models, ask);
  return choice.chain;
}

/** Held for: what nobody here can count fills the context. */
export function sizeOf(ask: ChatAsk, { contextTokens }: Pick<AiModel, 'contextTokens'>) {
  const { images, choices, unseen } = ask;
  return { inputTokens: Math.max(tokensSent(ask), unseen ? (contextTokens ?? 0) : 0), images, choices };
}

/** Vendors count tokens differently. */
function tokensSent({ inputTokens }: ChatAsk): number {
  return Math.ceil(inputTokens * INPUT_MARGIN);
}

/** The limit that is sent to the model: the caller's, or the model's usual one as far as its context goes. */
export function outputTokensOf(model: AiModel, ask: ChatAsk): number {
  if (ask.outputTokens !== null && !isUsualLimit(ask)) return ask.outputTokens;
  const room = (model.contextTokens ?? Number.POSITIVE_INFINITY) - tokensSent(ask);
  const most = ask.outputTokens === null ? model.outputTokens : (model.outputTokensMax ?? Number.POSITIVE_INFINITY);
  return Math.max(1, Math.min(ask.outputTokens ?? Number.POSITIVE_INFINITY, most, room));
}

/** What is lost where the request is said as a chat. */
function unsayable(core: Services, row: ModelRow, ask: ChatAsk): AiLack | null {
  if (ask.own !== null && ownWireOf(core, row, ask.own.wire) !== null) return null;
  return ask.lack ?? core.vendors.adapter<AiAdapter>('ai', row.vendor.adapter).lacks?.(ask.body) ?? null;
}

/** The wire of messages demands a limit: its clients send the same to every model, and each gives what it can of that. */
export function isUsualLimit({ own }: ChatAsk): boolean {
  return own?.wire === 'messages';
}

function unableToChat(model: AiModel, ask: ChatAsk): Unable | null {
  const wanted = isUsualLimit(ask) ? 1 : (ask.outputTokens ?? 1);
  if (ask.tools && !model.tools) return 'tools';
  if (ask.images > 0 && !model.images) return 'images';
  if (ask.jsonSchema && model.jsonSchema === null) return 'response_format';
  if (model.outputTokensMax !== null && wanted > model.outputTokensMax) return 'max_tokens';
  if (model.contextTokens !== null && ask.inputTokens + wanted > model.contextTokens) return 'messages';
  return null;
}

function cannot(models: readonly { readonly row: ModelRow; readonly why: Unable }[], ask: ChatAsk): Problem {
  // Others may lack something else.
  const why = models[0]?.why as Unable;
  const who = models.length === 1 ? `The model ${models[0]?.row.id}` : 'None of the models that may be asked';
  const does = models.length === 1 ? 'does not take' : 'takes';
  if (typeof why === 'object') {
    const field = why.field.replace(/^messages/, ask.names.messages);
    return invalidField(field, why.rule, `${who} ${does} ${why.what}.`);
  }
  switch (why) {
    case 'images':
      return invalidField(ask.names.messages, 'images_not_offered', `${who} ${does} images.`);
    case 'tools':
      return invalidField('tools', 'tools_not_offered', `${who} ${does} tools.`);
    case 'response_format':
      return invalidField(ask.names.format, 'json_schema_not_offered', `${who} ${does} a JSON schema for its answer.`);
    case 'max_tokens': {
      const most = Math.max(...models.map(({ row }) => aiModel(row).outputTokensMax ?? 0));
      return invalidField(ask.names.limit, 'max_output', `An output has at most ${most} tokens there.`);
    }
    default: {
      const most = Math.max(...models.map(({ row }) => aiModel(row).contextTokens ?? 0));
      const message = `Input and output have some ${ask.inputTokens + (ask.outputTokens ?? 1)} tokens; the context there has ${most}.`;
      return invalidField(ask.names.messages, 'context_length', message);
    }
  }
}

export interface EmbedWish extends Routed {
  readonly dimensions: number | null;
  /** Of the longest input, counted. */
  readonly longestTokens: number;
  readonly inputTokens: number;
  /** Inputs are lists of tokens, not texts. */
  readonly areTokens: boolean;
}

/** A model of one space only: vectors of two cannot be compared, so nothing else takes its place. Throws as above. */
export async function chooseForEmbed(core: Services, accountId: string, ask: EmbedWish): Promise<Chain> {
  const excluded = await core.vendors.routing.excludedVendors(accountId, EMBED);
  const isAuto = (ask.model ?? 'auto') === 'auto' && ask.vendor === null;
  const chooseVendors = (mayBe: (model: AiModel) => boolean, primaryNanos?: bigint) =>
    core.vendors.choose(
      {
        capability: EMBED,
        model: ask.model,
        vendor: ask.vendor,
        crossRegion: ask.crossRegion,
        unable: (row) => (mayBe(aiModel(row)) ? unableToEmbed(aiModel(row), ask) : 'space'),
        quote: (row) =>
          mostNanos(aiModel(row), { inputTokens: ask.inputTokens, images: 0, outputTokens: 0, choices: 0 }),
        ...(primaryNanos === undefined ? {} : { primaryNanos }),
      },
      excluded,
    );
  const choice = chooseVendors((model) => !isAuto || model.isDefaultEmbedding);
  if (choice.kind === 'unable') throw cannotEmbed(choice.models, ask);
  const [first, ...further] = choice.chain;
  const space = aiModel(first.row).embeddingSpace;
  const isAlike = (row: ModelRow) => space !== null && row !== first.row && aiModel(row).embeddingSpace === space;
  if (!isAuto) return [first, ...further.filter(({ row }) => isAlike(row))];
  const others = chooseVendors(({ row }) => isAlike(row), first.quoteNanos);
  return others.kind === 'unable' ? [first] : [first, ...others.chain.slice(0, 2)];
}

type UnableToEmbed = 'dimensions' | 'input' | 'tokens';

function unableToEmbed(model: AiModel, ask: EmbedWish): UnableToEmbed | null {
  if (ask.areTokens && !model.tokenInputs) return 'tokens';
  const { dimensionsRange: range, dimensions } = model;
  const offers = range === null ? ask.dimensions === dimensions : inRange(range, ask.dimensions ?? range.min);
  if (ask.dimensions !== null && !offers) return 'dimensions';
  if (model.inputTokensMax !== null && ask.longestTokens > model.inputTokensMax) return 'input';
  return null;
}

function inRange({ min, max }: { readonly min: number; readonly max: number }, value: number): boolean {
  return value >= min && value <= max;
}

function cannotEmbed(
  models: readonly { readonly row: ModelRow; readonly why: UnableToEmbed | 'space' }[],
  ask: EmbedWish,
): Problem {
  const able = models.find(({ why }) => why !== 'space');
  if (able === undefined) {
    const message =
      'The model that `auto` stands for may not be asked: name another. Vectors of two models cannot be compared.';
    return problem('VENDOR_NOT_AVAILABLE', { param: 'model', detail: 'excluded', message });
  }
  const { row, why } = able;
  const { dimensionsRange: range, dimensions, inputTokensMax } = aiModel(row);
  if (why === 'tokens') return invalidField('input', 'tokens_not_offered', `${row.id} takes texts, not tokens.`);
  if (why === 'input') {
    const message = `The longest input has ${ask.longestTokens} tokens; ${row.id} takes ${inputTokensMax}.`;
    return invalidField('input', 'input_tokens', message);
  }
  const offered = range === null ? `${dimensions ?? 'its own number of'}` : `${range.min} to ${range.max}`;
  return invalidField('dimensions', 'dimensions_not_offered', `${row.id} offers ${offered} dimensions.`);
}
