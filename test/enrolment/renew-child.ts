import { installCandidate, type RenewalStep, requestRenewal } from '../../src/lib/enrolment/renew.ts';
import { systemClock } from '../../src/lib/lifecycle/index.ts';
import { directDialer } from '../../src/lib/net/index.ts';

// One renewal in a process of its own, which kills itself after the step named on its standard input.

let text = '';
for await (const chunk of process.stdin) text += String(chunk);
const { killAt, ...options } = JSON.parse(text);
const onStep = async (step: RenewalStep) => {
  if (step !== killAt) return;
  process.kill(process.pid, 'SIGKILL');
  await new Promise(() => {});
};
const { renews } = await requestRenewal({
  ...options,
  dialer: directDialer,
  clock: systemClock,
  signal: new AbortController().signal,
  retryAt: () => new Date(0),
  onStep,
});
await installCandidate(options.identityDir, renews, onStep);
