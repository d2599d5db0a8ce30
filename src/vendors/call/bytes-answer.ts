// One request whose JSON answer contains files, as base64 in fields of one name. They are written to disk as they arrive, so neither their text
// nor their bytes are ever in memory as a whole. The rest of the JSON is read like any answer.
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { retryAfterMs } from '../../lib/retry-after.ts';
import type { Question } from './ask.ts';
import type { VendorReply } from './judge.ts';
import type { VendorCall } from './port.ts';

const ANSWER_BYTES_MAX = 128 * 1024 * 1024;
const REST_BYTES_MAX = 1024 * 1024;
const QUOTE = 0x22;

export interface BytesQuestion extends Omit<Question, 'method' | 'timeoutMs'> {
  /** Whose values are files. */
  readonly field: string;
  readonly filesMax: number;
  workPath(): Promise<string>;
}

export interface BytesReply {
  readonly reply: VendorReply;
  /** Of the files, in their order; whoever asks removes them. */
  readonly paths: readonly string[];
}

/** Asks by POST, once: a lost answer may have been work. Its first byte may take as long as a download. */
export async function askForBytes(call: VendorCall, question: BytesQuestion): Promise<BytesReply> {
  const { url, credentials, headers, body } = question;
  const { connectMs, downloadMs, idleMs } = call.timeouts;
  const isForm = body instanceof FormData;
  const reply = await call.outbound.send({
    method: 'POST',
    url,
    credentials,
    signal: call.signal,
    headers: { accept: 'application/json', ...(!isForm && { 'content-type': 'application/json' }), ...headers },
    body: isForm ? body : JSON.stringify(body),
    operator: { origin: call.baseUrl, assetHosts: call.assetHosts },
    limits: { connectMs, firstByteMs: downloadMs, idleMs, totalMs: downloadMs, answerBytesMax: ANSWER_BYTES_MAX },
  });
  if (reply.kind === 'failed') return { reply, paths: [] };
  const { status } = reply;
  const waitMs = retryAfterMs(reply.headers['retry-after'] ?? null, Date.now());
  const files = new AnswerFiles(question);
  try {
    for await (const chunk of reply.body as AsyncIterable<Buffer>) await files.take(chunk);
    return { reply: { kind: 'answered', status, retryAfterMs: waitMs, body: files.rest() }, paths: files.paths };
  } catch {
    // It broke off, or is not what it says: what came of it is of no use.
    (reply.body as Readable).destroy();
    await files.remove();
    return { reply: { kind: 'answered', status, retryAfterMs: waitMs, body: undefined }, paths: [] };
  }
}

/** Parts the files from the rest, chunk by chunk. */
class AnswerFiles {
  readonly paths: string[] = [];
  readonly #question: Pick<BytesQuestion, 'workPath' | 'filesMax'>;
  readonly #begin: RegExp;
  readonly #rest: string[] = [];
  #restBytes = 0;
  /** Outside of a file: what may be the beginning of a field. Within: base64 that is no whole group of four. */
  #kept = '';
  #file: ReturnType<typeof createWriteStream> | null = null;

  constructor(question: Pick<BytesQuestion, 'field' | 'workPath' | 'filesMax'>) {
    this.#question = question;
    this.#begin = new RegExp(`"${question.field}"\\s{0,8}:\\s{0,8}"`);
  }

  async take(chunk: Buffer): Promise<void> {
    let text = this.#kept + chunk.toString('latin1');
    this.#kept = '';
    while (text !== '') {
      text = this.#file === null ? await this.#outside(text) : await this.#within(text);
    }
  }

  /** The JSON without the files; undefined when it is none. Throws when a file has no end. */
  rest(): unknown {
    if (this.#file !== null) throw new Error('the answer ended within a file');
    this.#keepRest(this.#kept);
    try {
      return JSON.parse(Buffer.from(this.#rest.join(''), 'latin1').toString('utf8'));
    } catch {
      return undefined;
    }
  }

  async remove(): Promise<void> {
    this.#file?.destroy();
    await Promise.all(this.paths.map((path) => rm(path, { force: true })));
  }

  async #outside(text: string): Promise<string> {
    const found = this.#begin.exec(text);
    if (found === null) {
      const at = Math.max(0, text.length - FIELD_CHARACTERS_MAX);
      this.#keepRest(text.slice(0, at));
      this.#kept = text.slice(at);
      return '';
    }
    if (this.paths.length === this.#question.filesMax) throw new Error('the answer has more files than were asked for');
    const end = found.index + found[0].length;
    this.#keepRest(text.slice(0, end));
    const path = await this.#question.workPath();
    this.paths.push(path);
    this.#file = createWriteStream(path, { mode: 0o600 });
    return text.slice(end);
  }

  async #within(text: string): Promise<string> {
    const end = text.indexOf(String.fromCharCode(QUOTE));
    // JSON may write a slash with a backslash before it.
    const base64 = (end === -1 ? text : text.slice(0, end)).replaceAll('\\', '');
    const whole = end === -1 ? base64.length - (base64.length % 4) : base64.length;
    const file = this.#file as ReturnType<typeof createWriteStream>;
    if (whole > 0 && !file.write(Buffer.from(base64.slice(0, whole), 'base64'))) await once(file, 'drain');
    if (end === -1) {
      this.#kept = base64.slice(whole);
      return '';
    }
    file.end();
    await finished(file);
    this.#file = null;
    return text.slice(end);
  }

  #keepRest(text: string): void {
    this.#restBytes += text.length;
    if (this.#restBytes > REST_BYTES_MAX) throw new Error('the answer is too long');
    this.#rest.push(text);
  }
}

/** More than the name of a field takes, with what stands around it. */
const FIELD_CHARACTERS_MAX = 128;
