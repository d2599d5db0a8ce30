// Texts that were looked at and held nothing to hide. File names, lines of code and names of members come again with every event of
// a crash: a look-up takes 40 ns, a look at every character 300. Only what came twice is kept, so texts that never come again cost
// nothing but the look-up.
const SLOTS = 32_768;
const CHARACTERS_MAX = 200;

const texts = new Array<string>(SLOTS).fill('');
const modes = new Uint8Array(SLOTS);
/** Of the text that asked for the slot last. */
const sketches = new Int32Array(SLOTS);

/** Whether exactly this text was remembered for this mode. */
export function isKnownClean(text: string, mode: number): boolean {
  if (text.length > CHARACTERS_MAX) return false;
  const slot = sketchOf(text, mode) & (SLOTS - 1);
  return texts[slot] === text && modes[slot] === mode;
}

/** Remembers it from the second time on. */
export function rememberClean(text: string, mode: number): void {
  if (text.length > CHARACTERS_MAX) return;
  const sketch = sketchOf(text, mode);
  const slot = sketch & (SLOTS - 1);
  if (sketches[slot] !== sketch) {
    sketches[slot] = sketch;
    return;
  }
  // A copy: a slice would keep the whole text that it was cut from in memory.
  texts[slot] = JSON.parse(JSON.stringify(text)) as string;
  modes[slot] = mode;
}

/** Of some characters: finds the slot, decides nothing. */
function sketchOf(text: string, mode: number): number {
  const { length } = text;
  let sketch = length * 31 + mode;
  const step = length <= 48 ? 1 : 1 + (length >> 5);
  for (let at = length - 1; at >= 0; at -= step) sketch = Math.imul(sketch, 31) + text.charCodeAt(at);
  return Math.imul(sketch ^ (sketch >>> 15), 0x2c1b3c6d) >>> 8;
}
