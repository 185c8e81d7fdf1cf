import { GwCommand, type Outcome } from '../../cli/command.ts';
import { siteFlag, viaFlag } from '../../cli/flags.ts';
import { renderKioskStatus } from '../../cli/render/kiosk.ts';
import type { KioskStatus as Result } from '../../lib/toolkit/kiosk.result.ts';

export default class KioskStatus extends GwCommand<Result> {
  static override summary = 'Whether the tablet is set up and closed.';
  static override description =
    'Dials the port of the tablet and reads what is remembered of it on this machine; needs no adb. Ends with 1 when the tablet is open, opens again after a restart, or is not set up as its profile says.';
  static override examples = [
    '<%= config.bin %> kiosk status',
    '<%= config.bin %> kiosk status --via technician@gateway --json',
  ];
  static override flags = { site: siteFlag, via: viaFlag };
  static override readonly schema = 'gw/kiosk-status/1';

  protected override async execute(): Promise<Outcome<Result>> {
    const { flags } = await this.parse(KioskStatus);
    const { kioskStatus } = await import('../../lib/toolkit/kiosk-status.ts');
    const data = await this.withToolkit(flags, (toolkit, signal) =>
      kioskStatus(toolkit, { signal, onProgress: () => {} }),
    );
    return { data, ok: data.findings.every(({ verdict }) => verdict !== 'wrong') };
  }

  protected override render(data: Result): string {
    return renderKioskStatus(data);
  }
}
