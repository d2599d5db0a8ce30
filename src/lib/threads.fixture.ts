// A thread of the tests of threads.ts: takes memory without end, as fast as a parser does.
import { serve } from './threads.ts';

const STEP = 200_000;

const growths: Record<string, (i: number) => void> = {
  list: (i) => numbers.push(i + 0.5),
  map: (i) => byNumber.set(i, i),
  outside(i) {
    if (i % STEP === 0) texts.push(Buffer.alloc(4_000_000, 65 + (texts.length % 26)).toString('latin1'));
  },
};
const numbers: number[] = [];
const byNumber = new Map<number, number>();
const texts: string[] = [];

function work(): void {
  let text = '';
  for (let i = 0; i < STEP; i += 1) text = `${i % 10}${text.slice(0, 20)}`;
}

serve<string, string>(async (task) => {
  const grow = growths[task];
  for (let i = 0; grow !== undefined; i += 1) {
    grow(i);
    if (i % STEP === 0) work();
  }
  return task;
});
