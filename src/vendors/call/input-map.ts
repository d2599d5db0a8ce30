// The `input` of a model's row, for wires where every model has its own inputs (fal, replicate). It maps our field to the path in theirs,
// `duration_seconds: duration`, dots for nesting; `values` translates values. Fields without a mapping are not sent.
import { Type } from 'typebox';
import type { ModelFault } from './job.ts';

/** No name of an object's own machinery. */
const PATH = '^(?!(?:.*\\.)?(?:__proto__|constructor|prototype)(?:\\.|$))[A-Za-z0-9_-]+(\\.[A-Za-z0-9_-]+){0,7}$';
const path = Type.String({ pattern: PATH });
const words = Type.Record(Type.String(), Type.Union([Type.String(), Type.Number(), Type.Boolean()]));
const target = Type.Union([path, Type.Object({ field: path, values: words }, { additionalProperties: false })]);

/** For `modelFields`: `input`, and `extra`, which is sent with every request. `names`: of our fields. */
export const inputFieldsOf = (names: readonly string[]) => ({
  input: Type.Optional(
    Type.Object(Object.fromEntries(names.map((name) => [name, Type.Optional(target)])), {
      additionalProperties: false,
    }),
  ),
  extra: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
});

type Target = string | { readonly field: string; readonly values: Readonly<Record<string, unknown>> };
type InputMap = Readonly<Partial<Record<string, Target>>>;
type Options = Readonly<Record<string, unknown>>;

/** Without another word the prompt is called so everywhere. */
export function mapOf(options: Options, hasPrompt = true): InputMap {
  return { ...(hasPrompt && { prompt: 'prompt' }), ...(options.input as InputMap | undefined) };
}

/** What the row offers and its map does not say. */
export function missingInputs(map: InputMap, offered: Readonly<Record<string, boolean>>): ModelFault[] {
  return Object.keys(offered)
    .filter((name) => offered[name] === true && map[name] === undefined)
    .map((name) => ({ field: `input.${name}`, message: '`input` has no mapping for this feature.' }));
}

/** Values that the row offers and its map has no word for. */
export function missingWords(
  map: InputMap,
  offered: Readonly<Record<string, readonly (string | number)[]>>,
): ModelFault[] {
  return Object.entries(offered).flatMap(([name, values]) => {
    const to = map[name];
    if (to === undefined || typeof to === 'string') return [];
    const without = values.filter((value) => !Object.hasOwn(to.values, String(value)));
    return without.map((value) => ({ field: `input.${name}.values`, message: `There is no word for ${value}.` }));
  });
}

/** The vendor's input of one request; null values are not sent. */
export function mappedInput(
  options: Options,
  map: InputMap,
  values: Readonly<Record<string, string | number | null>>,
): Record<string, unknown> {
  const input: Record<string, unknown> = structuredClone(options.extra ?? {}) as Record<string, unknown>;
  for (const [name, value] of Object.entries(values)) {
    const to = map[name];
    if (to === undefined || value === null) continue;
    if (typeof to === 'string') putAt(input, to, value);
    else putAt(input, to.field, Object.hasOwn(to.values, String(value)) ? to.values[String(value)] : value);
  }
  return input;
}

function putAt(input: Record<string, unknown>, path: string, value: unknown): void {
  const names = path.split('.');
  const last = names.pop() as string;
  let place = input;
  for (const name of names) {
    const next = Object.hasOwn(place, name) ? place[name] : undefined;
    place[name] = typeof next === 'object' && next !== null ? next : {};
    place = place[name] as Record<string, unknown>;
  }
  place[last] = value;
}
