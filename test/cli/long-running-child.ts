// A long-running command for long-running.test.ts, also as a program; its first argument is its behaviour when asked to end.
import { fileURLToPath } from 'node:url';
import type { Outcome } from '../../src/cli/command.ts';
import { LongRunningCommand } from '../../src/cli/long-running.ts';
import { systemClock } from '../../src/lib/lifecycle/index.ts';

interface ChildEvent {
  readonly event: string;
}
const FOREVER_MS = 1e9;

export class Child extends LongRunningCommand<ChildEvent> {
  static override strict = false;
  static override readonly schema = 'gw/child/1';

  protected override async execute(): Promise<Outcome<ChildEvent>> {
    const { argv } = await this.parse(Child);
    const [how] = argv;
    using _ticks = systemClock.every(20, () => this.emit({ event: 'tick' }));
    this.emit({ event: 'ready' });
    if (how === 'crash') setImmediate(() => this.#crash());
    if (how === 'reject') setImmediate(() => void Promise.reject(new Error('uncaught on purpose')));
    await systemClock.sleep(FOREVER_MS, this.signal).catch(() => {});
    if (how === 'stuck') await this.unstuck();
    return { data: { event: 'ended' } };
  }

  protected unstuck(): Promise<void> {
    return systemClock.sleep(FOREVER_MS);
  }

  #crash(): never {
    throw new Error('uncaught on purpose');
  }

  protected override render({ event }: ChildEvent): string {
    return event;
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await Child.run(process.argv.slice(2), { root: fileURLToPath(new URL('../..', import.meta.url)) });
}
