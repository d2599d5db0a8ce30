// A prompt as a storyboard: a shot for each sentence, and the orders in double brackets that tests give.

import type { SandboxOrders, Scene } from '../port.ts';

export interface Shot {
  readonly text: string;
  readonly frames: number;
  readonly seed: number;
}

export const FRAMES_PER_SECOND = 24;
/** A shot is to be read. */
const SHOT_FRAMES_MIN = 12;
const SLOW_SECONDS_MAX = 600;

const order = /\[\[(?:fail:([A-Z_]{1,40})|slow:(\d{1,5})|(hang))\]\]/g;
const sentences = new Intl.Segmenter('en', { granularity: 'sentence' });

export function ordersIn(scenes: readonly Scene[]): SandboxOrders {
  const found = scenes.flatMap(({ prompt }) => [...prompt.matchAll(order)]);
  return {
    fail: found.find(([, code]) => code !== undefined)?.[1] ?? null,
    slowSeconds: Math.min(SLOW_SECONDS_MAX, Math.max(0, ...found.map(([, , seconds]) => Number(seconds ?? 0)))),
    hang: found.some(([, , , hang]) => hang !== undefined),
  };
}

/** The shots of all scenes; their frames are those of the scenes, exactly. */
export function shotsOf(scenes: readonly Scene[]): Shot[] {
  return scenes.flatMap((scene) => {
    const frames = scene.seconds * FRAMES_PER_SECOND;
    const texts = textsOf(scene.prompt).slice(0, Math.max(1, Math.floor(frames / SHOT_FRAMES_MIN)));
    const seed = scene.seed ?? hashOf(scene.prompt);
    // Frames that do not divide evenly go to the first shots.
    return texts.map((text, i) => ({
      text,
      frames: Math.floor(frames / texts.length) + (i < frames % texts.length ? 1 : 0),
      seed: hashOf(`${seed}/${i}/${text}`),
    }));
  });
}

function textsOf(prompt: string): string[] {
  const said = prompt.replace(order, ' ');
  const texts = [...sentences.segment(said)].map(({ segment }) => segment.trim()).filter((text) => text !== '');
  return texts.length === 0 ? [''] : texts;
}

/** FNV-1a, 32 bits. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i += 1) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return hash >>> 0;
}

/** Numbers of [0, 1) that depend on nothing but the seed (mulberry32). */
export function numbersOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
