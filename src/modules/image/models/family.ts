// Image models in the operator's configuration file: their own fields, the form of a price, and the models of the sandbox.
import Type from 'typebox';
import { nanosOfUsd } from '../../../lib/money.ts';
import { patternWithWords } from '../../../lib/pattern-words.ts';
import { quoteOf } from '../../../routing/quote.ts';
import type { FieldFault, ModelFamily, ModelRow } from '../../../vendors/file/port.ts';
import { IMAGES_MAX } from '../limits.ts';
import { imageAdapters } from '../vendors/index.ts';
import type { ImageAdapter } from '../vendors/port.ts';

export const SIZE_PATTERN = patternWithWords(
  '^[1-9][0-9]{1,3}x[1-9][0-9]{1,3}$',
  'must be width x height in pixels, such as 1024x1024',
);
export const DEFAULT_SIZE = '1024x1024';
const SANDBOX_SIZES = ['256x256', '512x512', '1024x1024', '1536x1024', '1024x1536', '1792x1024', '1024x1792'];
const DEADLINE_MINUTES = 15;

const size = Type.String({ pattern: SIZE_PATTERN });
const amount = Type.Number({ minimum: 0, maximum: 1_000 });
const traits = Type.Object({
  sizes: Type.Optional(Type.Array(size, { minItems: 1, uniqueItems: true })),
  images_max: Type.Optional(Type.Integer({ minimum: 1, maximum: IMAGES_MAX })),
  seed: Type.Optional(Type.Boolean()),
  edit: Type.Optional(Type.Boolean()),
  deadline_minutes: Type.Optional(Type.Integer({ minimum: 1, maximum: 24 * 60 })),
});
const price = Type.Object(
  { per_image: Type.Union([amount, Type.Record(size, amount)]) },
  { additionalProperties: false, description: '{per_image: USD}, or {per_image: {1024x1024: USD, …}}' },
);

type Price = 'free' | { readonly per_image: number | Readonly<Record<string, number>> };

interface Traits {
  readonly sizes?: readonly string[];
  readonly images_max?: number;
  readonly seed?: boolean;
  readonly edit?: boolean;
  readonly deadline_minutes?: number;
}

/** A model's row, with what it does not say filled in. */
export interface ImageModel {
  readonly row: ModelRow;
  readonly sizes: readonly string[];
  readonly imagesMax: number;
  readonly seed: boolean;
  /** Whether it draws upon an image that it is given. */
  readonly edit: boolean;
  readonly deadlineMinutes: number;
}

export function imageModel(row: ModelRow): ImageModel {
  const said = row.traits as Traits;
  return {
    row,
    sizes: said.sizes ?? [DEFAULT_SIZE],
    imagesMax: said.images_max ?? 1,
    seed: said.seed ?? false,
    edit: said.edit ?? false,
    deadlineMinutes: said.deadline_minutes ?? DEADLINE_MINUTES,
  };
}

/** What the vendor takes for an image of a size, nano-USD without markup; null: it has no price for it. */
export function imageNanos(row: ModelRow, of: string): bigint | null {
  const said = row.price as Price;
  if (said === 'free') return 0n;
  const each = typeof said.per_image === 'number' ? said.per_image : said.per_image[of];
  return each === undefined ? null : nanosOfUsd(each);
}

/** The same, of a size that the row offers. */
export function vendorNanos(row: ModelRow, of: string, n: number): bigint {
  const each = imageNanos(row, of);
  if (each === null) throw new Error(`${row.id} has no price for ${of}`);
  return each * BigInt(n);
}

/** What so many images cost the caller, nano-USD with markup. */
export function quoteImages(row: ModelRow, of: string, n: number): bigint {
  return quoteOf(row.vendor, vendorNanos(row, of, n), 1n);
}

export const imageFamily: ModelFamily = {
  name: 'image',
  capabilities: ['image.generate'],
  traits,
  price,
  timeouts: ['connect_ms', 'submit_ms', 'poll_ms', 'download_ms', 'idle_ms'],
  sandbox: [
    {
      id: 'card-1',
      price: { per_image: 0.001 },
      flagship: true,
      sizes: SANDBOX_SIZES,
      images_max: IMAGES_MAX,
      seed: true,
      edit: true,
    },
  ],
  serves: () => ['image.generate'],
  faults: (row, adapter) => [...priceFaults(row), ...wireFaults(row, adapter as unknown as ImageAdapter)],
  lowestNanos(row) {
    const each = imageModel(row).sizes.map((of) => quoteImages(row, of, 1));
    return each.reduce((least, nanos) => (nanos < least ? nanos : least));
  },
  adapters: imageAdapters,
};

function priceFaults(row: ModelRow): FieldFault[] {
  return imageModel(row)
    .sizes.filter((of) => imageNanos(row, of) === null)
    .map((of) => ({ field: 'price.per_image', message: `It has no price for ${of}, which the model offers.` }));
}

function wireFaults(row: ModelRow, adapter: ImageAdapter): FieldFault[] {
  const { sizes, imagesMax, seed, edit } = imageModel(row);
  return [...adapter.check({ id: row.id, sizes, imagesMax, seed, edit, options: row.options })];
}
