// A long-running command for long-running.test.ts; its first argument is its behaviour when asked to end.
import { fileURLToPath } from 'node:url';
import type { Outcome } from '../../src/cli/command.ts';
import { LongRunningCommand } from '../../src/cli/long-running.ts';

interface ChildEvent {
  readonly event: string;
}

class Child extends LongRunningCommand<ChildEvent> {
  static override strict = false;
  static override readonly schema = 'gw/child/1';

  protected override async execute(): Promise<Outcome<ChildEvent>> {
    const { argv } = await this.parse(Child);
    const [how] = argv;
    const running = setInterval(() => this.emit({ event: 'tick' }), 20);
    this.emit({ event: 'ready' });
    if (how === 'crash') setTimeout(() => this.#crash(), 50);
    if (how === 'reject') setTimeout(() => void Promise.reject(new Error('uncaught on purpose')), 50);
    await new Promise((resolve) => this.signal.addEventListener('abort', resolve, { once: true }));
    if (how === 'slow') await new Promise((resolve) => setTimeout(resolve, 100));
    if (how === 'stuck') await new Promise(() => {});
    clearInterval(running);
    return { data: { event: 'ended' } };
  }

  #crash(): never {
    throw new Error('uncaught on purpose');
  }

  protected override render({ event }: ChildEvent): string {
    return event;
  }
}

const root = fileURLToPath(new URL('../..', import.meta.url));
await Child.run(process.argv.slice(2), { root });
