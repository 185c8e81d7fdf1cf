import { enrol } from '../../src/lib/enrolment/enrol.ts';
import { systemClock } from '../../src/lib/lifecycle/index.ts';
import { directDialer } from '../../src/lib/net/index.ts';

// One enrolment in a process of its own, which kills itself after the step named on its standard input.

let text = '';
for await (const chunk of process.stdin) text += String(chunk);
const { killAt, code, ...options } = JSON.parse(text);
await enrol({
  ...options,
  readCode: async () => code,
  dialer: directDialer,
  clock: systemClock,
  signal: new AbortController().signal,
  async onStep(step) {
    if (step !== killAt) return;
    process.kill(process.pid, 'SIGKILL');
    await new Promise(() => {});
  },
});
