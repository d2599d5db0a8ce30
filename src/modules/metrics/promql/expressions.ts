// Regular expressions of one query. No other code compiles or runs a caller's expression: its cost is estimated and counted here before it runs.
// Expressions match whole texts, in time linear in the text (RE2).
import { RE2JS } from 're2js';
import { tooComplex } from './too-complex.ts';
import { unfoldedSize } from './unfolded.ts';

/** Of one expression, and of what it unfolds to: `a{1000}` counts as a thousand. */
const EXPRESSION_CHARACTERS_MAX = 1_024;
const PROGRAM_MAX = 10_000;
/** Before it is compiled. It is reckoned, so with room: to compile what passes takes half a second at most. */
const UNFOLDED_MAX = 2 * PROGRAM_MAX;
/**
 * Of a query: instructions of its expressions times characters of the texts they look at. One of them took 5 to 20 ns in the worst programs
 * that were found (`((a*)*){900}[0-9]+`), 145 ns with groups; so this is 2 s at worst.
 */
export const EXPRESSION_WORK_MAX = 100_000_000;
const WITH_GROUPS = 8;
/** To compile an instruction takes some 3 to 10 microseconds. */
const COMPILING = 2_048;

/** Thrown in place of compiling: the query must go to a thread. */
export class NeedsThread extends Error {}

export interface Expression {
  /** Before `test` and `groupsOf`: counts all texts that were not counted yet. Throws VALIDATION_FAILED (`too_complex`). */
  reckon(texts: Iterable<string>, withGroups?: boolean): void;
  test(text: string): boolean;
  /** Null: the text does not match. */
  groupsOf(text: string): Groups | null;
}

export interface Groups {
  readonly count: number;
  readonly names: Readonly<Record<string, number>>;
  group(index: number): string;
}

export class Expressions {
  readonly #workMax: number;
  #work = 0;
  #compiled = 0;

  constructor(workMax = EXPRESSION_WORK_MAX) {
    this.#workMax = workMax;
  }

  /** For the thread of the event loop: there no expression of a caller is compiled. */
  static none(): Expressions {
    return new Expressions(0);
  }

  /** How many were compiled. */
  get compiled(): number {
    return this.#compiled;
  }

  /** Throws an Error that says what is wrong with the expression, NeedsThread, or VALIDATION_FAILED (`too_complex`). */
  compile(source: string): Expression {
    if (this.#workMax === 0) throw new NeedsThread();
    if (source.length > EXPRESSION_CHARACTERS_MAX) {
      throw new Error(`an expression may have at most ${EXPRESSION_CHARACTERS_MAX} characters`);
    }
    if (unfoldedSize(source) > UNFOLDED_MAX) throw new Error('the expression is too large');
    this.#compiled += 1;
    const program = RE2JS.compile(`^(?:${source})$`);
    const size = program.programSize();
    if (size > PROGRAM_MAX) throw new Error('the expression is too large');
    this.#count(size * COMPILING);
    return new Compiled(program, (characters) => this.#count(characters * size));
  }

  #count(work: number): void {
    this.#work += work;
    if (this.#work <= this.#workMax) return;
    throw tooComplex(
      `The expressions of the query have too much to look at: ${this.#work} instructions times characters, of ${this.#workMax}. Use a shorter expression, or fewer series.`,
    );
  }
}

class Compiled implements Expression {
  readonly #program: RE2JS;
  readonly #count: (characters: number) => void;
  /** What is counted already; of labels, which have few values, also what came of it. */
  readonly #counted = { plain: new Set<string>(), withGroups: new Set<string>() };
  readonly #held = new Map<string, boolean>();

  constructor(program: RE2JS, count: (characters: number) => void) {
    this.#program = program;
    this.#count = count;
  }

  reckon(texts: Iterable<string>, withGroups = false): void {
    const counted = withGroups ? this.#counted.withGroups : this.#counted.plain;
    let characters = 0;
    for (const text of texts) {
      if (counted.has(text)) continue;
      counted.add(text);
      characters += text.length + 1;
    }
    if (characters > 0) this.#count(characters * (withGroups ? WITH_GROUPS : 1));
  }

  test(text: string): boolean {
    let held = this.#held.get(text);
    if (held !== undefined) return held;
    this.reckon([text]);
    held = this.#program.matcher(text).find();
    this.#held.set(text, held);
    return held;
  }

  groupsOf(text: string): Groups | null {
    this.reckon([text], true);
    const matcher = this.#program.matcher(text);
    if (!matcher.find()) return null;
    return {
      count: matcher.groupCount(),
      names: this.#program.namedGroups(),
      group: (index) => matcher.group(index) ?? '',
    };
  }
}
