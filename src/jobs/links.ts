// Signed links to a job's output: they need no key, expire, and are signed over asset, kind and expiry. The account is part of a link, because
// the job is looked up by it.
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Secrets } from '../core/secrets/secrets.ts';
import { problem } from '../problems/problem.ts';
import type { JobRow } from './row.ts';

const accountPattern = /^[A-Za-z0-9_-]{1,100}$/;

export interface LinkShape {
  /** Of whose key links are signed. */
  readonly secret: string;
  /** `/v1/video/content`. */
  readonly path: string;
  /** A job's id, and behind a dot what of the job it is: two groups. */
  readonly pattern: RegExp;
  /** What is signed for what stands behind the dot; null: nothing is called so. */
  kindOf(ending: string): string | null;
}

/** What a link names, once its signature has been checked. */
export interface Named {
  readonly accountId: string;
  readonly jobId: string;
  readonly kind: string;
  readonly endMs: number;
}

export class JobLinks {
  readonly #shape: LinkShape;
  readonly #key: Buffer;
  readonly #baseUrl: string;

  constructor(shape: LinkShape, secrets: Secrets, baseUrl: string) {
    this.#shape = shape;
    this.#key = secrets.derive(shape.secret, 32);
    this.#baseUrl = baseUrl;
  }

  /** Null: what it made is gone by now. `ending`: which file of the job. */
  link(job: JobRow, ending: string, nowMs: number, seconds: number): string | null {
    const { account_id: accountId, job_id: jobId, expires_at } = job;
    const endSeconds = Math.floor(Math.min(nowMs + seconds * 1_000, expires_at ?? Number.POSITIVE_INFINITY) / 1_000);
    if (endSeconds * 1_000 <= nowMs) return null;
    const kind = this.#shape.kindOf(ending);
    if (kind === null) throw new Error(`a job has no file ${ending}`);
    const mac = this.#mac({ accountId, jobId, kind, endMs: endSeconds * 1_000 }).toString('base64url');
    return `${this.#baseUrl}${this.#shape.path}/${jobId}.${ending}?exp=${endSeconds}&sig=${mac}.${accountId}`;
  }

  /** Throws NOT_FOUND for what is no link of ours, and LINK_EXPIRED for a signature that does not fit. Whether its time is over is for the caller. */
  read(name: string, query: URLSearchParams): Named {
    const [, jobId, ending = ''] = this.#shape.pattern.exec(name) ?? [];
    const kind = jobId === undefined ? null : this.#shape.kindOf(ending);
    if (jobId === undefined || kind === null) throw problem('NOT_FOUND');
    const [mac = '', accountId = ''] = (query.get('sig') ?? '').split('.');
    const seconds = query.get('exp') ?? '';
    if (!/^\d{1,12}$/.test(seconds) || !accountPattern.test(accountId)) throw problem('LINK_EXPIRED');
    const named = { accountId, jobId, kind, endMs: Number(seconds) * 1_000 };
    const given = Buffer.from(mac, 'base64url');
    const right = this.#mac(named);
    if (given.length !== right.length || !timingSafeEqual(given, right)) throw problem('LINK_EXPIRED');
    return named;
  }

  #mac({ accountId, jobId, kind, endMs }: Named): Buffer {
    return createHmac('sha256', this.#key).update(`${accountId}\n${jobId}\n${kind}\n${endMs}`).digest();
  }
}
