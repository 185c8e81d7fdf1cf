import { GwCommand, type Outcome } from '../cli/command.ts';
import { acceptUndecidedFlag, hostFlag, siteFlag, viaFlag } from '../cli/flags.ts';
import { renderHealth } from '../cli/render/gateway.ts';
import type { JudgedHealth as Result } from '../lib/toolkit/gateway/gateway.result.ts';

export default class Health extends GwCommand<Result> {
  static override summary = 'Show the health that the running gateway reports: services, disk, cloud, remote support.';
  static override description =
    'Asks `gw serve` and checks nothing itself; docs/gateway.md says what makes it degraded. Exits with 1 when the gateway is degraded, also while a part is not checked that its site file configures, unless --accept-undecided, and with 3 when no gateway answers.';
  static override examples = [
    '<%= config.bin %> health',
    '<%= config.bin %> health --via root@192.0.2.2',
    '<%= config.bin %> health --host robot-7.local --json',
  ];
  static override flags = { site: siteFlag, via: viaFlag, host: hostFlag, 'accept-undecided': acceptUndecidedFlag };
  static override readonly schema = 'gw/health/1';

  protected override async execute(): Promise<Outcome<Result>> {
    const { flags } = await this.parse(Health);
    const { host } = flags;
    const { readJudgedHealth } = await import('../lib/toolkit/gateway/health.ts');
    const data = await this.withToolkit(flags, (toolkit, signal) =>
      readJudgedHealth(toolkit, { host }, { signal, onProgress: () => {} }),
    );
    return await this.judged(data, data.verdict, flags);
  }

  protected override readonly render = renderHealth;
}
