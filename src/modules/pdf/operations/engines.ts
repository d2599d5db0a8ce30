// Where PDFs are made and read: a few threads, each with a bound of memory and time, in turns by account. What a thread needs of the outside
// world is fetched here, through the guard.
import { AccountPlaces } from '../../../core/account-places.ts';
import type { Admission } from '../../../core/admission.ts';
import { inBrowserFolder } from '../../../core/browser/folder.ts';
import type { CallContext } from '../../../core/context.ts';
import { readSource } from '../../../core/files/source.ts';
import { Threads } from '../../../lib/threads.ts';
import { invalidField, Problem } from '../../../problems/problem.ts';
import type { EngineAnswer, EngineQuestion, EngineReply, EngineTask } from '../engine/wire.ts';

type Bounds = Admission['call']['pdf'];
type Answered = Exclude<EngineAnswer, { kind: 'refused' }>;

export class Engines {
  readonly #places: AccountPlaces;
  readonly #threads: Threads<EngineTask, EngineAnswer, never, EngineQuestion, EngineReply>;
  readonly #bounds: Bounds;

  constructor(atOnce: number, { all, account, call: { pdf } }: Admission) {
    this.#places = new AccountPlaces(atOnce, { max: all.pdfsWaitingMax, perOwnerMax: account.pdfsWaitingMax });
    this.#bounds = pdf;
    this.#threads = new Threads(new URL('../engine/thread.ts', import.meta.url), pdf);
  }

  /**
   * Throws VALIDATION_FAILED for what cannot be made or read, takes too long or too much memory; CONCURRENCY_LIMITED and OVERLOADED when too
   * many wait.
   */
  run<Kind extends Answered['kind']>(
    ctx: CallContext,
    task: EngineTask,
    kind: Kind,
  ): Promise<Extract<Answered, { kind: Kind }>> {
    ctx.idle();
    return this.#places.run(ctx.accountId, ctx.signal, async () => {
      const answer = await this.#inFolder(ctx, task);
      if (answer.kind === 'refused') throw problemOf(answer.field, answer.index, answer.rule, answer.message);
      if (answer.kind !== kind) throw new Error(`a thread answered ${answer.kind} in place of ${kind}`);
      return answer as Extract<Answered, { kind: Kind }>;
    });
  }

  close(): Promise<void> {
    return this.#threads.close();
  }

  /** A browser gets a folder of its own, which goes with it: also when its thread was ended. */
  async #inFolder(ctx: CallContext, task: EngineTask): Promise<EngineAnswer> {
    if (task.kind !== 'create' || task.chromiumPath === null || task.engine === 'document')
      return this.#within(ctx, task);
    const { browserMb } = this.#bounds;
    return inBrowserFolder('qm-pdf-', (browserFolder) => this.#within(ctx, { ...task, browserFolder, browserMb }));
  }

  async #within(ctx: CallContext, task: EngineTask): Promise<EngineAnswer> {
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(), this.#bounds.msMax);
    const fetcher = new Fetcher(ctx, this.#bounds);
    const signal = AbortSignal.any([ctx.signal, late.signal]);
    try {
      const talk = { onAsk: ({ url }: EngineQuestion) => fetcher.fetch(url) };
      const answer = await this.#threads.run(task, signal, talk, buffersOf(task));
      ctx.signal.throwIfAborted();
      if (answer !== null) return answer;
      const why = late.signal.aborted ? `takes longer than ${this.#bounds.msMax / 1_000} s` : 'takes too much memory';
      throw problemOf(fieldOf(task), null, 'too_complex', `It ${why}. Send less of it at a time.`);
    } finally {
      clearTimeout(timer);
    }
  }
}

/** What one document has fetched. */
class Fetcher {
  readonly #ctx: CallContext;
  readonly #bounds: Bounds;
  #fetches = 0;
  #bytes = 0;

  constructor(ctx: CallContext, bounds: Bounds) {
    this.#ctx = ctx;
    this.#bounds = bounds;
  }

  async fetch(url: string): Promise<EngineReply> {
    const none = { bytes: null, contentType: null, status: 0 };
    this.#fetches += 1;
    const { fetchesMax, fetchedBytesMax } = this.#bounds;
    if (this.#fetches > fetchesMax) return { ...none, message: `more than ${fetchesMax} files were asked for` };
    const bytesMax = fetchedBytesMax - this.#bytes;
    try {
      const { bytes, contentType } = await readSource(this.#ctx, { url }, { bytesMax, param: 'content' });
      this.#bytes += bytes.length;
      return { bytes, contentType, status: 200, message: '' };
    } catch (error) {
      if (!(error instanceof Problem) || error.httpStatus !== 400) throw error;
      return { ...none, message: error.message.replace(/\.$/, '') };
    }
  }
}

function buffersOf(task: EngineTask): ArrayBuffer[] {
  if (task.kind === 'create') return [];
  const sources = task.kind === 'merge' ? task.sources : [task.source];
  return [...new Set(sources.map(({ buffer }) => buffer as ArrayBuffer))];
}

function fieldOf({ kind }: EngineTask): string {
  return kind === 'create' ? 'content' : kind === 'merge' ? 'sources' : 'source';
}

function problemOf(field: string, index: number | null, rule: string, message: string): Problem {
  const param = index === null ? field : `${field}[${index}]`;
  return invalidField(param, rule, message);
}
