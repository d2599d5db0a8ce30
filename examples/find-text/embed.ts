// Texts to embeddings. With EMBEDDINGS_URL, by any service that speaks OpenAI's protocol for them (EMBEDDINGS_KEY, EMBEDDINGS_MODEL);
// without, by counting hashed n-grams of characters: no model, no network, good enough to find where a text was taken from.

const DIMENSION = 1024;
const NGRAMS = [3, 4, 5];
const TEXTS_PER_CALL = 64;

const {
  EMBEDDINGS_URL: service,
  EMBEDDINGS_KEY: key,
  EMBEDDINGS_MODEL: model = 'text-embedding-3-small',
} = process.env;

/** One embedding for each text, all of one length. Throws what the service says is wrong. */
export async function embed(texts: readonly string[]): Promise<readonly number[][]> {
  if (service === undefined) return texts.map(countNgrams);
  const embeddings: number[][] = [];
  for (let i = 0; i < texts.length; i += TEXTS_PER_CALL) {
    embeddings.push(...(await ask(service, texts.slice(i, i + TEXTS_PER_CALL))));
  }
  return embeddings;
}

async function ask(url: string, input: readonly string[]): Promise<number[][]> {
  const response = await fetch(`${url.replace(/\/$/, '')}/embeddings`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(key === undefined ? {} : { authorization: `Bearer ${key}` }) },
    body: JSON.stringify({ model, input }),
  });
  if (!response.ok) throw new Error(`${url} answered ${response.status}: ${await response.text()}`);
  const { data } = (await response.json()) as { data: { index: number; embedding: number[] }[] };
  return data.sort((a, b) => a.index - b.index).map(({ embedding }) => embedding);
}

/** Each n-gram adds one to a place that its hash names, or takes one away: those that meet in a place cancel out on average. */
function countNgrams(text: string): number[] {
  const normal = text.toLowerCase().replace(/\s+/g, ' ');
  const counts = new Array<number>(DIMENSION).fill(0);
  for (const length of NGRAMS) {
    for (let start = 0; start + length <= normal.length; start += 1) {
      const hash = hashOf(normal, start, start + length);
      const place = hash % DIMENSION;
      counts[place] = (counts[place] as number) + (hash & 0x4000_0000 ? 1 : -1);
    }
  }
  // An n-gram that comes a hundred times does not say a hundred times as much.
  const damped = counts.map((count) => Math.sign(count) * Math.sqrt(Math.abs(count)));
  return damped.some((value) => value !== 0) ? damped : damped.map(() => 1);
}

/** FNV-1a. */
function hashOf(text: string, start: number, end: number): number {
  let hash = 0x811c9dc5;
  for (let i = start; i < end; i += 1) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return (hash ^ (hash >>> 13)) >>> 0;
}
