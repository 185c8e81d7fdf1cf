// Uninterruptible work for careful-run.test.ts: when asked to end it completes, or with `stuck` never does.
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { runCarefully } from '../../src/cli/careful-run.ts';
import { GwCommand, type Outcome } from '../../src/cli/command.ts';
import { systemClock } from '../../src/lib/lifecycle/index.ts';

interface Result {
  readonly finished: boolean;
}
const FOREVER_MS = 1e9;

class Child extends GwCommand<Result> {
  static override strict = false;
  static override readonly schema = 'gw/child/1';

  protected override async execute(): Promise<Outcome<Result>> {
    const { argv } = await this.parse(Child);
    const [file, how] = argv as string[];
    const data = await runCarefully({ quiet: this.jsonEnabled(), signal: this.signal }, async (careful) => {
      careful.onSafetyBackup('before.tar.gz');
      careful.onProgress('writing');
      await systemClock.sleep(FOREVER_MS, careful.signal).catch(() => {});
      if (how === 'stuck') await systemClock.sleep(FOREVER_MS);
      careful.onProgress('reading back');
      return { finished: true };
    });
    if (file !== undefined) writeFileSync(file, JSON.stringify(data));
    return { data, ok: false, exitCode: 130 };
  }

  protected override render({ finished }: Result): string {
    return `finished: ${finished}`;
  }
}

await Child.run(process.argv.slice(2), { root: fileURLToPath(new URL('../..', import.meta.url)) });
