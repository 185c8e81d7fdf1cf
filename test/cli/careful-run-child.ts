// Uninterruptible work for careful-run.test.ts: when asked to end it continues for a while, then ends.
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { runCarefully } from '../../src/cli/careful-run.ts';
import { GwCommand, type Outcome } from '../../src/cli/command.ts';

interface Result {
  readonly finished: boolean;
  readonly reason: string;
}

class Child extends GwCommand<Result> {
  static override strict = false;
  static override readonly schema = 'gw/child/1';

  protected override async execute(): Promise<Outcome<Result>> {
    const { argv } = await this.parse(Child);
    const [file, endingMs = '300'] = argv as string[];
    const data = await runCarefully({ quiet: this.jsonEnabled(), signal: this.signal }, async (careful) => {
      careful.onSafetyBackup('before.tar.gz');
      careful.onProgress('writing');
      await new Promise((resolve) => {
        const waiting = setInterval(() => {}, 1_000);
        careful.signal.addEventListener('abort', () => {
          clearInterval(waiting);
          setTimeout(resolve, Number(endingMs));
        });
      });
      careful.onProgress('reading back');
      return { finished: true, reason: String((careful.signal.reason as Error).message) };
    });
    if (file !== undefined) writeFileSync(file, JSON.stringify(data));
    return { data, ok: false, exitCode: 130 };
  }

  protected override render({ finished }: Result): string {
    return `finished: ${finished}`;
  }
}

const root = fileURLToPath(new URL('../..', import.meta.url));
await Child.run(process.argv.slice(2), { root });
