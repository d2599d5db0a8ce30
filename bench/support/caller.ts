// A caller in a process of its own, one call after the other: what the benchmark itself does beside, as writing 30 MB to a socket,
// does not delay it. Answers each order with the latencies in ms, ascending.
import { load, post } from './load.ts';

export interface Order {
  readonly url: string;
  readonly path: string;
  readonly secret: string;
  readonly body: string;
  readonly seconds: number;
}

process.on('message', ({ url, path, secret, body, seconds }: Order) => {
  const request = post(url, path, secret, body);
  const taken: number[] = [];
  let sentMs = 0;
  const flow = {
    next() {
      sentMs = performance.now();
      return request;
    },
    answered: () => void taken.push(performance.now() - sentMs),
  };
  void load({ url, connections: 1, seconds, flow }).then(({ failed }) => {
    if (failed > 0) throw new Error(`${failed} calls failed`);
    process.send?.(taken.sort((a, b) => a - b));
  });
});
