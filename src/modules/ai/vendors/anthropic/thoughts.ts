// Signed or redacted thinking blocks of the vendor. Its models continue from them after a tool's result, and accept them only unchanged. The
// chat wire carries them as `thinking_blocks` of an assistant message, as other gateways do.
import { objectsOf, type WireObject } from '../../../../lib/chat/body.ts';
import { GrowingText } from '../../../../lib/growing-text.ts';

/** Those among blocks of the vendor, or in `thinking_blocks` of a client. */
export function signedThoughts(blocks: unknown): WireObject[] {
  return objectsOf(blocks).flatMap(signedBlocks);
}

function signedBlocks({ type, thinking, signature, data }: WireObject): WireObject[] {
  if (type === 'redacted_thinking' && typeof data === 'string') return [{ type, data }];
  const isSigned = typeof signature === 'string' && signature !== '';
  return type === 'thinking' && typeof thinking === 'string' && isSigned ? [{ type, thinking, signature }] : [];
}

/** Longer ones are not carried: nothing of a stream is held without bound. */
const CHARACTERS_MAX = 1024 * 1024;

/** Thoughts of one stream: they come in pieces, and go out whole. */
export class Thoughts {
  readonly #open = new Map<unknown, { readonly thinking: GrowingText; readonly signature: GrowingText }>();
  #characters = 0;

  /** Answers a thought that is whole at once. */
  open(index: unknown, block: WireObject): WireObject[] {
    if (block.type !== 'thinking') return signedThoughts([block]);
    const { thinking, signature } = block;
    const growingText = (text: unknown) => new GrowingText(String(text ?? ''));
    this.#open.set(index, { thinking: growingText(thinking), signature: growingText(signature) });
    return [];
  }

  add(index: unknown, { thinking, signature }: WireObject): void {
    const thought = this.#open.get(index);
    if (thought === undefined) return;
    if (typeof thinking === 'string') thought.thinking.add(thinking);
    if (typeof signature === 'string') thought.signature.add(signature);
    this.#characters += String(thinking ?? signature ?? '').length;
    if (this.#characters > CHARACTERS_MAX) this.#open.clear();
  }

  close(index: unknown): WireObject[] {
    const thought = this.#open.get(index);
    this.#open.delete(index);
    if (thought === undefined) return [];
    return signedThoughts([
      { type: 'thinking', thinking: String(thought.thinking), signature: String(thought.signature) },
    ]);
  }
}
