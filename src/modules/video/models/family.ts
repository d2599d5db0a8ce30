// Video models in the operator's file: their own fields, the notation of prices, and the models of the sandbox.
import Type from 'typebox';
import { nanosOfUsd } from '../../../lib/money.ts';
import { timeoutsOf } from '../../../routing/attempts.ts';
import { quoteOf } from '../../../routing/quote.ts';
import type { VendorCall } from '../../../vendors/call/port.ts';
import type { FieldFault, ModelFamily, ModelRow, TryOutOptions } from '../../../vendors/file/port.ts';
import { aspectRatios, resolutionMultiplier, resolutions } from '../jobs/row.ts';
import { SECONDS_MAX, SECONDS_MIN } from '../limits.ts';
import { videoAdapters } from '../vendors/index.ts';
import type { VideoAdapter, VideoModelRow, VideoResolution } from '../vendors/port.ts';
import { tryVideo } from '../vendors/try-out.ts';

const TRY_OUT_MS = 20 * 60_000;
const seconds = Type.Integer({ minimum: SECONDS_MIN, maximum: SECONDS_MAX });
const amount = Type.Number({ minimum: 0, maximum: 1_000 });

const traits = Type.Object({
  seconds: Type.Optional(
    Type.Union([
      Type.Object({ min: Type.Optional(seconds), max: seconds }, { additionalProperties: false }),
      Type.Object({ only: Type.Array(seconds, { minItems: 1, uniqueItems: true }) }, { additionalProperties: false }),
    ]),
  ),
  resolutions: Type.Optional(Type.Array(Type.Enum([...resolutions]), { minItems: 1, uniqueItems: true })),
  aspect_ratios: Type.Optional(Type.Array(Type.Enum([...aspectRatios]), { minItems: 1, uniqueItems: true })),
  image_to_video: Type.Optional(Type.Boolean()),
  seed: Type.Optional(Type.Boolean()),
  negative_prompt: Type.Optional(Type.Boolean()),
  extend: Type.Optional(Type.Enum(['stitched', 'continuation'])),
  upscale: Type.Optional(Type.Boolean()),
  deadline_minutes: Type.Optional(Type.Integer({ minimum: 1, maximum: 24 * 60 })),
});

const perResolution = Type.Object(
  Object.fromEntries(resolutions.map((resolution) => [resolution, Type.Optional(amount)])),
  { additionalProperties: false, minProperties: 1 },
);
const price = Type.Union([
  Type.Object({ per_second: Type.Union([amount, perResolution]) }, { additionalProperties: false }),
  Type.Object({ per_clip: amount }, { additionalProperties: false }),
]);

/** As the file writes a price; amounts in USD. */
type Price =
  | 'free'
  | { readonly per_second: number | Readonly<Partial<Record<VideoResolution, number>>> }
  | { readonly per_clip: number };

/** A model's row, with what it does not say filled in. */
export interface VideoModel {
  readonly row: ModelRow;
  readonly secondsMin: number;
  readonly secondsMax: number;
  /** Null: every whole number between. */
  readonly secondsOnly: readonly number[] | null;
  readonly resolutions: readonly VideoResolution[];
  readonly aspectRatios: readonly string[];
  readonly imageToVideo: boolean;
  readonly seed: boolean;
  readonly negativePrompt: boolean;
  readonly extend: 'stitched' | 'continuation' | null;
  readonly upscale: boolean;
  readonly deadlineMinutes: number;
}

const DEADLINE_MINUTES = 60;

interface Traits {
  readonly seconds?: { readonly min?: number; readonly max: number } | { readonly only: readonly number[] };
  readonly resolutions?: readonly VideoResolution[];
  readonly aspect_ratios?: readonly string[];
  readonly image_to_video?: boolean;
  readonly seed?: boolean;
  readonly negative_prompt?: boolean;
  readonly extend?: 'stitched' | 'continuation';
  readonly upscale?: boolean;
  readonly deadline_minutes?: number;
}

export function videoModel(row: ModelRow): VideoModel {
  const said = row.traits as Traits;
  const only = said.seconds !== undefined && 'only' in said.seconds ? said.seconds.only : null;
  const range = said.seconds !== undefined && 'max' in said.seconds ? said.seconds : { max: SECONDS_MAX };
  return {
    row,
    secondsMin: only === null ? (range.min ?? SECONDS_MIN) : Math.min(...only),
    secondsMax: only === null ? range.max : Math.max(...only),
    secondsOnly: only,
    resolutions: said.resolutions ?? ['720p'],
    aspectRatios: said.aspect_ratios ?? ['16:9'],
    imageToVideo: said.image_to_video ?? false,
    seed: said.seed ?? false,
    negativePrompt: said.negative_prompt ?? false,
    extend: said.extend ?? null,
    upscale: said.upscale ?? false,
    deadlineMinutes: said.deadline_minutes ?? DEADLINE_MINUTES,
  };
}

/** Price of a second at a resolution, nano-USD without markup. Null: the model has a price for a clip, or none for the resolution. */
export function secondNanos(row: ModelRow, resolution: VideoResolution): bigint | null {
  const price = row.price as Price;
  if (price === 'free') return 0n;
  if ('per_clip' in price) return null;
  const { per_second: perSecond } = price;
  if (typeof perSecond === 'number') return nanos(perSecond) * BigInt(resolutionMultiplier[resolution]);
  const own = perSecond[resolution];
  return own === undefined ? null : nanos(own);
}

/** What the vendor takes for so many seconds, nano-USD. */
export function vendorPrice(row: ModelRow, seconds: number, resolution: VideoResolution): VendorPrice {
  const price = row.price as Price;
  if (price !== 'free' && 'per_clip' in price) return { vendorNanos: nanos(price.per_clip), per: 'clip' };
  const each = secondNanos(row, resolution);
  if (each === null) throw new Error(`${row.id} has no price for ${resolution}`);
  return { vendorNanos: each * BigInt(seconds), per: 'second' };
}

interface VendorPrice {
  readonly vendorNanos: bigint;
  readonly per: 'second' | 'clip';
}

/** What so many seconds cost the caller, nano-USD with markup. */
export function quoteVideo(row: ModelRow, seconds: number, resolution: VideoResolution): bigint {
  return quoteOf(row.vendor, vendorPrice(row, seconds, resolution).vendorNanos, 1n);
}

export const videoFamily: ModelFamily = {
  name: 'video',
  isAssumed: true,
  capabilities: ['video.generate', 'video.extend', 'video.upscale'],
  traits,
  price,
  timeouts: ['connect_ms', 'submit_ms', 'poll_ms', 'download_ms', 'idle_ms'],
  sandbox: [
    {
      id: 'storyboard-1',
      price: { per_second: 0.001 },
      flagship: true,
      seconds: { min: SECONDS_MIN, max: SECONDS_MAX },
      resolutions: [...resolutions],
      aspect_ratios: [...aspectRatios],
      image_to_video: true,
      seed: true,
      extend: 'stitched',
      upscale: true,
    },
  ],
  serves(said) {
    const { extend, upscale } = said as Traits;
    const further = [...(extend === undefined ? [] : ['video.extend']), ...(upscale === true ? ['video.upscale'] : [])];
    return ['video.generate', ...further];
  },
  faults: (row, adapter) => [...priceFaults(row), ...wireFaults(row, adapter as unknown as VideoAdapter)],
  lowestNanos(row) {
    const each = videoModel(row).resolutions.map((resolution) => quoteVideo(row, 1, resolution));
    return each.reduce((least, nanos) => (nanos < least ? nanos : least));
  },
  adapters: videoAdapters,
  tryOut: (row, adapter, options) => tryVideo(adapter as VideoAdapter, row, callOf(row, options), options),
};

function priceFaults(row: ModelRow): FieldFault[] {
  const price = row.price as Price;
  if (price === 'free' || 'per_clip' in price) return [];
  return videoModel(row)
    .resolutions.filter((resolution) => secondNanos(row, resolution) === null)
    .map((resolution) => ({
      field: 'price.per_second',
      message: `It has no price for ${resolution}, which the model offers.`,
    }));
}

function wireFaults(row: ModelRow, adapter: VideoAdapter): FieldFault[] {
  return [...adapter.check(wireRow(videoModel(row)))];
}

/** One that is made for nobody's job. */
function callOf({ vendor, timeouts }: ModelRow, { outbound }: TryOutOptions): VendorCall {
  const { baseUrl, key, assetHosts } = vendor;
  const signal = AbortSignal.timeout(TRY_OUT_MS);
  return { baseUrl, key: key?.reveal() ?? null, assetHosts, timeouts: timeoutsOf(timeouts), outbound, signal };
}

/** The row as adapters judge it. */
export function wireRow(model: VideoModel): VideoModelRow {
  const { row, imageToVideo, seed, negativePrompt, extend, upscale, aspectRatios: ratios } = model;
  const seconds =
    model.secondsOnly === null ? { min: model.secondsMin, max: model.secondsMax } : { only: model.secondsOnly };
  const common = { imageToVideo, seed, negativePrompt, extend, upscale, seconds };
  return { id: row.id, ...common, resolutions: model.resolutions, aspectRatios: ratios, options: row.options };
}

function nanos(usd: number): bigint {
  const amount = nanosOfUsd(usd);
  if (amount === null) throw new Error(`${usd} USD is no whole number of nano-USD`);
  return amount;
}
