import { GwCommand, type Outcome } from '../../cli/command.ts';
import { acceptUndecidedFlag, secondsFlag } from '../../cli/flags.ts';
import { kioskAccess, kioskFlags } from '../../cli/kiosk-flags.ts';
import { withStages } from '../../cli/progress.ts';
import { renderKioskStatus } from '../../cli/render/kiosk.ts';
import type { KioskStatus as Result } from '../../lib/toolkit/kiosk/kiosk.result.ts';

export default class KioskStatus extends GwCommand<Result> {
  static override summary = 'Show whether the ADB port of the tablet is closed, and its settings match the profile.';
  static override description =
    'Probes the ADB port of the tablet. If it is open, or with --usb, reads the settings; otherwise shows the newest reading as remembered, with its age and tablet. Remembered values are never shown as ok. Changes nothing on the tablet; needs adb only to read it. Exits with 1 when the port is open or opens again after a restart, or a difference from the profile is known; also when something was not checked now, such as remembered settings, unless --accept-undecided.';
  static override examples = [
    '<%= config.bin %> kiosk status',
    '<%= config.bin %> kiosk status --usb',
    '<%= config.bin %> kiosk status --via technician@gateway --json',
  ];
  static override flags = {
    ...kioskFlags,
    'allow-within': secondsFlag({
      summary: 'Time limit for the authorisation of this computer on the tablet',
      default: 5,
      min: 5,
      max: 3600,
    }),
    'accept-undecided': acceptUndecidedFlag,
  };
  static override readonly schema = 'gw/kiosk-status/1';

  protected override async execute(): Promise<Outcome<Result>> {
    const { flags } = await this.parse(KioskStatus);
    const { kioskStatus } = await import('../../lib/toolkit/kiosk/status.ts');
    const access = kioskAccess(flags);
    const data = await this.withToolkit(flags, (toolkit, signal) =>
      withStages({ quiet: this.jsonEnabled() }, (onProgress) => kioskStatus(toolkit, access, { signal, onProgress })),
    );
    return await this.judged(data, data.redLine === null ? data.verdict : 'wrong', flags);
  }

  protected override readonly render = renderKioskStatus;
}
