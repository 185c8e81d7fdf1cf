// Reports to the manager that its environment names, until it is ended.
import { readFileSync } from 'node:fs';
import { reportToManager, serviceManagerOf } from '../../src/lib/gateway/service-manager.ts';
import { systemClock } from '../../src/lib/lifecycle/index.ts';
import { until } from '../waiting.ts';

const manager = serviceManagerOf(process.env, process.pid);
if (manager === null) throw new Error('no manager');
const write = (_: object, message: string) => console.log(message);
const log = { debug: write, info: write, warn: write, error: write };
const reports = reportToManager(manager, { clock: systemClock, log });
const ended = Promise.withResolvers<void>();
process.once('SIGTERM', () => {
  reports[Symbol.dispose]();
  ended.resolve();
});
// Timers of the clock do not keep a process alive.
const keeping = new AbortController();
void ended.promise.then(() => keeping.abort());
await systemClock.sleep(2 ** 31 - 1, keeping.signal).catch(() => {});
// What the helper sets off at its end is over.
await until(
  () => readFileSync(`/proc/self/task/${process.pid}/children`, 'utf8'),
  (pids) => pids === '',
);
