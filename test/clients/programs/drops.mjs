// What the programs of the drops have in common: n steps of kinds in turn, each printed as
// {"step", "value"} or {"step", "error"}. After "begun" the runner cuts; it has stopped by the
// last steps, one of each kind, which it asks for by a line on standard input.
import { createInterface } from 'node:readline';
import { place, print, within } from './step.mjs';

export { place };

export async function drops({ begin, kinds }) {
  const step = async (name, act) => {
    try {
      print({ step: name, value: await within(20000, name, act()) });
    } catch (e) {
      print({ step: name, error: String(e?.stack ?? e).slice(0, 400) });
    }
  };
  process.on('unhandledRejection', (e) => print({ step: 'unhandled', error: String(e?.stack ?? e).slice(0, 400) }));
  await step('begun', async () => (await begin()) ?? true);
  const names = Object.keys(kinds);
  for (let i = 0; i < place.steps; i++) {
    const name = names[i % names.length];
    await step(`${i} ${name}`, () => kinds[name](i));
  }
  const calm = new Promise((done) => createInterface({ input: process.stdin }).once('line', done));
  print({ step: 'done', value: true });
  await calm;
  await step('settled', async () => { // a command may have been under way at the last cut
    for (;;) if (await kinds.evaluate(1000).catch(() => false)) return true;
  });
  for (const name of names) await step(`last ${name}`, () => kinds[name](1000));
  process.exit(0);
}
