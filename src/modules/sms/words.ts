// Keywords of a person that opt out of a number, or back in. Only a message that is exactly one of them counts.
export type OptWord = 'stop' | 'start';

const WORDS: Readonly<Record<OptWord, readonly string[]>> = {
  stop: ['STOP', 'STOPALL', 'UNSUBSCRIBE', 'CANCEL', 'END', 'QUIT'],
  start: ['START', 'UNSTOP', 'YES'],
};

export function optWordOf(text: string): OptWord | null {
  const word = text.trim().toUpperCase();
  return (Object.keys(WORDS) as OptWord[]).find((kind) => WORDS[kind].includes(word)) ?? null;
}
