import { GwCommand, type Outcome } from '../../cli/command.ts';
import { secondsFlag } from '../../cli/flags.ts';
import { kioskAccess, kioskFlags } from '../../cli/kiosk-flags.ts';
import { renderKioskStatus } from '../../cli/render/kiosk.ts';
import { withStages } from '../../cli/stages.ts';
import type { KioskStatus as Result } from '../../lib/toolkit/kiosk/kiosk.result.ts';

export default class KioskStatus extends GwCommand<Result> {
  static override summary = 'Show whether the tablet is closed, and whether it is as its profile says.';
  static override description =
    'Dials the port of the tablet. Where there is a connection, an open port or with --usb a cable, reads the settings again; elsewhere shows the newest reading as remembered, with its age and the tablet it was read on. What is remembered is never shown as ok. Changes nothing on the tablet; needs adb only to read again. Ends with 1 when the tablet is open, opens again after a restart, or is known to differ from its profile; not checked ends with 0.';
  static override examples = [
    '<%= config.bin %> kiosk status',
    '<%= config.bin %> kiosk status --usb',
    '<%= config.bin %> kiosk status --via technician@gateway --json',
  ];
  static override flags = {
    ...kioskFlags,
    'allow-within': secondsFlag({
      summary: 'How long somebody may take to allow this computer on the tablet',
      default: 5,
      min: 5,
      max: 3600,
    }),
  };
  static override readonly schema = 'gw/kiosk-status/1';

  protected override async execute(): Promise<Outcome<Result>> {
    const { flags } = await this.parse(KioskStatus);
    const { kioskStatus } = await import('../../lib/toolkit/kiosk/status.ts');
    const access = kioskAccess(flags);
    const data = await this.withToolkit(flags, (toolkit, signal) =>
      withStages({ quiet: this.jsonEnabled() }, (onProgress) => kioskStatus(toolkit, access, { signal, onProgress })),
    );
    return { data, ok: data.verdict !== 'wrong' && data.redLine === null };
  }

  protected override render(data: Result): string {
    return renderKioskStatus(data);
  }
}
