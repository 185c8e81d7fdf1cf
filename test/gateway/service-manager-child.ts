// Reports to the manager that its environment names, until it is ended.
import { reportToManager, serviceManagerOf } from '../../src/lib/gateway/service-manager.ts';
import { systemClock } from '../../src/lib/lifecycle/index.ts';

const manager = serviceManagerOf(process.env, process.pid);
if (manager === null) throw new Error('no manager');
const write = (_: object, message: string) => console.log(message);
const log = { debug: write, info: write, warn: write, error: write };
const reports = reportToManager(manager, { clock: systemClock, log });
setInterval(() => {}, 1_000);
process.once('SIGTERM', () => {
  reports[Symbol.dispose]();
  process.exitCode = 0;
  setTimeout(() => process.exit(), 300);
});
