// Kills a worker whose event loop does not answer, so that it is replaced. Time is counted by the first process's own clock. While that
// process was late itself, on a suspended machine or in a debugger, no worker is killed.
import type { Worker } from 'node:cluster';
import inspector from 'node:inspector';
import type { Logger } from '../core/process/logger.ts';
import type { Link } from './link.ts';

export interface HeartbeatTimes {
  readonly everyMs: number;
  /** Unanswered heartbeats after which a worker is killed. */
  readonly missedMax: number;
  /** The same for a worker that has not answered yet, because it still loads. */
  readonly missedAtStartMax: number;
}

export const HEARTBEATS: HeartbeatTimes = { everyMs: 1_000, missedMax: 10, missedAtStartMax: 60 };

interface Pulse {
  readonly worker: Worker;
  readonly slot: number;
  readonly link: Link;
  isAsked: boolean;
  missed: number;
  missedMax: number;
}

export class Heartbeats {
  readonly #times: HeartbeatTimes;
  readonly #log: Logger;
  readonly #pulses = new Map<Worker, Pulse>();
  readonly #timer: NodeJS.Timeout;
  #beatAtMs = performance.now();

  constructor(times: HeartbeatTimes, log: Logger) {
    this.#times = times;
    this.#log = log;
    this.#timer = setInterval(() => this.#beat(), times.everyMs).unref();
  }

  /** Until the worker ends. Its side of the link answers `heartbeat`. */
  watch(slot: number, worker: Worker, link: Link): void {
    const pulse = { worker, slot, link, isAsked: false, missed: 0, missedMax: this.#times.missedAtStartMax };
    this.#pulses.set(worker, pulse);
    worker.once('exit', () => this.#pulses.delete(worker));
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #beat(): void {
    const nowMs = performance.now();
    const isLate = nowMs - this.#beatAtMs > 2 * this.#times.everyMs;
    this.#beatAtMs = nowMs;
    // A worker that stands at a breakpoint is not frozen.
    if (inspector.url() !== undefined) return;
    for (const pulse of this.#pulses.values()) {
      pulse.missed = isLate || !pulse.isAsked ? 0 : pulse.missed + 1;
      if (pulse.missed >= pulse.missedMax) this.#kill(pulse);
      else if (!pulse.isAsked) this.#ask(pulse);
    }
  }

  #ask(pulse: Pulse): void {
    pulse.isAsked = true;
    const noteAnswer = () => {
      pulse.isAsked = false;
      pulse.missedMax = this.#times.missedMax;
    };
    // The link closes when the worker ends.
    pulse.link.ask('heartbeat').then(noteAnswer, () => undefined);
  }

  #kill({ worker, slot, missed }: Pulse): void {
    this.#pulses.delete(worker);
    const silentMs = missed * this.#times.everyMs;
    this.#log.error({ worker: slot, pid: worker.process.pid, silent_ms: silentMs }, 'a worker does not answer: killed');
    worker.process.kill('SIGKILL');
  }
}
