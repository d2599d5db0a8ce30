// The pool of PDF threads: a few, each with limits of memory and time, in turns by account. Requests of a thread to the outside are fetched
// here, through the guard.

import { inBrowserFolder } from '../../../browser/folder.ts';
import { AccountThreads, type Perform } from '../../../core/account-threads.ts';
import type { Admission } from '../../../core/admission.ts';
import { readSource } from '../../../files/source.ts';
import type { CallContext } from '../../../kit/services.ts';
import { invalidField, Problem } from '../../../problems/problem.ts';
import type { EngineAnswer, EngineQuestion, EngineReply, EngineTask } from '../engine/wire.ts';

type Bounds = Admission['call']['pdf'];
type Work = Perform<EngineTask, EngineAnswer, never, EngineQuestion, EngineReply>;
type Answered = Exclude<EngineAnswer, { kind: 'refused' }>;

export class Engines {
  readonly #threads: AccountThreads<EngineTask, EngineAnswer, never, EngineQuestion, EngineReply>;
  readonly #bounds: Bounds;

  constructor(atOnce: number, { all, account, call: { pdf } }: Admission) {
    const waiting = { max: all.pdfsWaitingMax, perOwnerMax: account.pdfsWaitingMax };
    this.#bounds = pdf;
    this.#threads = new AccountThreads(new URL('../engine/thread.ts', import.meta.url), {
      ...pdf,
      threads: atOnce,
      waiting,
    });
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
    return this.#threads.run(ctx.accountId, ctx.signal, async (perform) => {
      const answer = await this.#inFolder(ctx, task, perform);
      if (answer.kind === 'refused') throw problemOf(answer.field, answer.index, answer.rule, answer.message);
      if (answer.kind !== kind) throw new Error(`a thread answered ${answer.kind} in place of ${kind}`);
      return answer as Extract<Answered, { kind: Kind }>;
    });
  }

  close(): Promise<void> {
    return this.#threads.close();
  }

  /** A browser gets a folder of its own, which goes with it: also when its thread was ended. */
  async #inFolder(ctx: CallContext, task: EngineTask, perform: Work): Promise<EngineAnswer> {
    if (task.kind !== 'create' || task.chromiumPath === null || task.engine === 'document')
      return this.#within(ctx, task, perform);
    const { browserMb } = this.#bounds;
    return inBrowserFolder('qm-pdf-', (browserFolder) =>
      this.#within(ctx, { ...task, browserFolder, browserMb }, perform),
    );
  }

  async #within(ctx: CallContext, task: EngineTask, perform: Work): Promise<EngineAnswer> {
    const fetcher = new Fetcher(ctx, this.#bounds);
    const talk = { onAsk: ({ url }: EngineQuestion) => fetcher.fetch(url) };
    const done = await perform(task, { talk, transfer: buffersOf(task) });
    if (done.kind === 'answer') return done.answer;
    const why = done.kind === 'late' ? `takes longer than ${this.#bounds.msMax / 1_000} s` : 'takes too much memory';
    throw problemOf(fieldOf(task), null, 'too_complex', `It ${why}. Send less of it at a time.`);
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
