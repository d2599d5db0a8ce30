// A streamed answer of a model, read as it comes.
import type { Json } from './openai-double.ts';

export class StreamReader {
  readonly status: number;
  readonly headers: Headers;
  /** All that has come. */
  text = '';
  /** Fulfilled at the end; how it ended is not told. */
  readonly ended: Promise<void>;
  readonly #leave: AbortController;

  private constructor(response: Response, leave: AbortController) {
    this.status = response.status;
    this.headers = response.headers;
    this.#leave = leave;
    this.ended = this.#read(response).catch(() => undefined);
  }

  /** Answers with the head. */
  static async open(url: string, secret: string, body: Json, headers: Record<string, string> = {}) {
    const leave = new AbortController();
    const response = await fetch(url, {
      method: 'POST',
      body: JSON.stringify({ ...body, stream: true }),
      signal: leave.signal,
      headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json', ...headers },
    });
    return new StreamReader(response, leave);
  }

  leave(): void {
    this.#leave.abort();
  }

  get comments(): number {
    return this.text.match(/^: .*$/gm)?.length ?? 0;
  }

  /** Of chat/completions without their end marker, or of responses. */
  get events(): Json[] {
    const lines = [...this.text.matchAll(/^data: (.*)$/gm)].flatMap(([, data]) => (data === '[DONE]' ? [] : [data]));
    return lines.map((data) => JSON.parse(data as string));
  }

  /** What the model says, on either wire. */
  get words(): string {
    return this.events
      .map(({ choices, type, delta }) =>
        type === 'response.output_text.delta' ? delta : (choices?.[0]?.delta?.content ?? ''),
      )
      .join('');
  }

  /** With the end marker of chat/completions, or the last event of a response. */
  get isWhole(): boolean {
    return this.text.endsWith('data: [DONE]\n\n') || this.events.at(-1)?.type === 'response.completed';
  }

  async #read(response: Response): Promise<void> {
    const texts = response.body?.pipeThrough(new TextDecoderStream()) ?? [];
    for await (const piece of texts) this.text += piece;
  }
}
