// Classifies member names, with one cache for all events: the same few hundred names recur.

import { MODE, scrubText } from '../text.ts';
import { kindOfName, type NameKind } from './names.ts';

export interface MemberName {
  /** The name without secrets of its own. */
  readonly clean: string;
  readonly kind: NameKind;
  /** How its value is read, as bits beside those of the object it stands in. */
  readonly mode: number;
  readonly isCodeLines: boolean;
  /** `value` and the like: what it holds, another member says. */
  readonly isValue: boolean;
  /** A private part of a JSON Web Key (RFC 7518 §6), if the object is one. */
  readonly isKeyPart: boolean;
}

/** Under these names personal data goes, at any depth. */
const PERSONAL = new Set(['vars', 'request', 'user', 'breadcrumbs']);
const CODE_LINES = new Set(['context_pre', 'context_line', 'context_post', 'pre_context', 'post_context']);
const KEY_PARTS = new Set(['d', 'p', 'q', 'dp', 'dq', 'qi', 'k']);
export const VALUES = ['value', 'val', 'Value'];

const NAMES_MAX = 4_096;
const NAME_CHARACTERS_MAX = 128;
/** A flood of names that never come again fills the memory once; so many strangers later it starts anew. */
const STRANGERS_MAX = 65_536;

/** A Map of our own: every member of every event is looked up, and with lru-cache preparing a capture took 5 % longer (5 and 50 KB). */
class Names {
  readonly #mode: number;
  readonly #known = new Map<string, MemberName>();
  #strangers = 0;

  constructor(mode: number) {
    this.#mode = mode;
  }

  get(name: string): MemberName {
    return this.#known.get(name) ?? this.#learn(name);
  }

  #learn(name: string): MemberName {
    const learnt = readName(name, this.#mode);
    if (name.length > NAME_CHARACTERS_MAX) return learnt;
    if (this.#known.size >= NAMES_MAX) {
      this.#strangers += 1;
      if (this.#strangers < STRANGERS_MAX) return learnt;
      this.#strangers = 0;
      this.#known.clear();
    }
    this.#known.set(name, learnt);
    return learnt;
  }
}

const usual = new Names(MODE.usual);
const personal = new Names(MODE.personal);

/** What `name` says in an object that is read in `mode`. */
export function memberName(name: string, mode: number): MemberName {
  return (mode & MODE.personal) === 0 ? usual.get(name) : personal.get(name);
}

function readName(name: string, mode: number): MemberName {
  const clean = scrubText(name, mode);
  const isCodeLines = CODE_LINES.has(name);
  return {
    clean,
    kind: kindOfName(clean, true),
    mode: isCodeLines ? MODE.code : PERSONAL.has(name) ? MODE.personal : 0,
    isCodeLines,
    isValue: VALUES.includes(name),
    isKeyPart: KEY_PARTS.has(name),
  };
}
