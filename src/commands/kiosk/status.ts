import { command } from '../../cli/define.ts';
import { acceptUndecidedFlag, durationFlag } from '../../cli/flags.ts';
import { kioskAccess, kioskFlags } from '../../cli/kiosk-flags.ts';
import { renderKioskStatus } from '../../cli/render/kiosk.ts';

export default command({
  summary: 'Show whether the ADB port of the tablet is closed, and its settings match the profile.',
  description:
    'Probes the ADB port of the tablet. If it is open, or with --usb, reads the settings; otherwise shows the newest reading as remembered, with its age and tablet. Remembered values are never shown as ok. Changes nothing on the tablet; needs adb only to read it. Exits with 1 when the port is open or opens again after a restart, or a difference from the profile is known; also when something was not checked now, such as remembered settings, unless --accept-undecided.',
  examples: [
    '<%= config.bin %> kiosk status',
    '<%= config.bin %> kiosk status --usb',
    '<%= config.bin %> kiosk status --via technician@gateway --json',
  ],
  flags: {
    ...kioskFlags,
    timeout: durationFlag({
      summary: 'Time limit for the authorisation of this computer on the tablet',
      default: 5,
      min: 5,
      max: 3600,
    }),
    'accept-undecided': acceptUndecidedFlag,
  },
  schema: 'gw/kiosk-status/1',
  async run({ flags }) {
    const { kioskStatus } = await import('../../lib/toolkit/kiosk/status.ts');
    const access = kioskAccess(flags);
    const data = await this.call(flags, kioskStatus, access, { shown: 'stages' });
    return await this.judged(data, data.redLine === null ? data.verdict : 'wrong', flags);
  },
  render: renderKioskStatus,
});
