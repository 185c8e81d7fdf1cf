import { Flags } from '@oclif/core';
import { GwCommand, type Outcome } from '../cli/command.ts';
import { gatewayFlags, noPagerFlag } from '../cli/flags.ts';
import { deliveriesCsv, gapsOf, renderDeliveries } from '../cli/render/deliveries.ts';
import { passwordFileFlag, readDevicePassword } from '../cli/secrets.ts';
import { GwError } from '../lib/error/index.ts';
import type { Deliveries } from '../lib/toolkit/gateway/deliveries.result.ts';

export default class DeliveriesCommand extends GwCommand<Deliveries> {
  static override summary = 'List what the robot drove: when, where to, ordered by whom, and how it ended.';
  static override description =
    'Each tour and drive of the last ninety days on which the robot drove, by the clock of the gateway; no names of persons. --password-file signs in with the device password; without it the command runs as root or the user of `gw serve`, on the gateway or by the login of --via. Exits with 1 when a part of the list could not be read or written, or is left out.';
  static override examples = [
    '<%= config.bin %> deliveries',
    '<%= config.bin %> deliveries --since 7d --format csv',
    '<%= config.bin %> deliveries --since 2026-11-01 --host robot-7.local --password-file device-password.txt --json',
  ];
  static override flags = {
    ...gatewayFlags,
    'password-file': passwordFileFlag,
    since: Flags.string({
      summary: 'Hours (24h) or days (7d) before now, or a day (2026-11-30) in the time zone of the gateway.',
      default: '1d',
      helpValue: 'DAY',
    }),
    format: Flags.option({ summary: 'table or csv.', options: ['table', 'csv'] as const, default: 'table' as const })(),
    'no-pager': noPagerFlag,
  };
  static override readonly schema = 'gw/deliveries/1';

  #isCsv = false;

  protected override async execute(): Promise<Outcome<Deliveries>> {
    const { flags } = await this.parse(DeliveriesCommand);
    const { host, since, format } = flags;
    if (format === 'csv' && this.jsonEnabled()) {
      throw new GwError('USAGE', '--json and --format csv cannot both be printed.', { remedy: 'Omit one of them.' });
    }
    this.#isCsv = format === 'csv';
    const password = await readDevicePassword(flags['password-file']);
    const { listDeliveries } = await import('../lib/toolkit/gateway/deliveries.ts');
    const data = await this.call(flags, listDeliveries, { host, password, since });
    const gaps = gapsOf(data);
    // The rows themselves have no place for them.
    if (this.#isCsv) for (const gap of gaps) this.warn(gap);
    return { data, ok: gaps.length === 0 };
  }

  protected override isDocument(): boolean {
    return this.#isCsv;
  }

  protected override isPaged(): boolean {
    return !this.#isCsv;
  }

  protected override render(data: Deliveries): string {
    return this.#isCsv ? deliveriesCsv(data).trimEnd() : renderDeliveries(data);
  }
}
