// What a batch of strings costs the JavaScript thread before the workers have it.
import { best } from './texts.mjs';

export async function bench(options) {
  const { Fingerprinter } = await import('../dist/index.mjs');
  const fingerprinter = new Fingerprinter();
  const length = 500;
  const texts = Array.from({ length: 1000 }, (_, i) =>
    String.fromCodePoint(
      ...Array.from({ length }, (_, j) => 0x4e00 + ((i * 7919 + j * 104729) % 20000)),
    ),
  );
  // The call copies its input and returns; the work itself goes on elsewhere and is awaited outside the clock.
  const pending = [];
  const seconds = await best(options, async () => {
    const start = performance.now();
    pending.push(fingerprinter.fingerprintManyAsync(texts));
    const spent = (performance.now() - start) / 1000;
    await pending.pop();
    return spent;
  });
  return {
    bench: 'intake',
    setup: `${texts.length} strings of ${length} Chinese characters`,
    rows: [
      {
        what: 'on the JavaScript thread',
        value: (seconds * 1e6) / texts.length,
        unit: 'us/document',
        against: {
          what: 'budget',
          value: 0.2,
          ratio: (seconds * 1e6) / texts.length / 0.2,
          goal: '<= 1',
        },
      },
    ],
  };
}
