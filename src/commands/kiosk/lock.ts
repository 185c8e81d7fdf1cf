import { command } from '../../cli/define.ts';
import { kioskAccess, kioskFlags, lockFlags } from '../../cli/kiosk-flags.ts';
import { renderKioskLock } from '../../cli/render/kiosk.ts';

export default command({
  summary: 'Switch ADB over TCP of the tablet off, and verify it.',
  description:
    'Reads the settings, clears what opens the port again (a property of the tablet, wireless debugging), switches ADB over TCP off, and connects until the port has refused three times. Silence verifies nothing: the tablet may be asleep. With --after-restart the tablet restarts while its port is watched. Afterwards the tablet is accessible over USB only. Exits with 1 when the port is not verified as closed, also when the device that refuses is not identified as the tablet, and with --after-restart when the restart was not watched.',
  examples: [
    '<%= config.bin %> kiosk lock',
    '<%= config.bin %> kiosk lock --after-restart',
    '<%= config.bin %> kiosk lock --via technician@gateway --json',
  ],
  flags: {
    ...kioskFlags,
    ...lockFlags,
  },
  schema: 'gw/kiosk-lock/1',
  async run({ flags }) {
    const { concludeLock, lockKiosk } = await import('../../lib/toolkit/kiosk/lock.ts');
    const options = {
      ...kioskAccess(flags),
      afterRestart: flags['after-restart'],
      watchMs: flags.for * 1_000,
    };
    const data = await this.call(flags, lockKiosk, options, { shown: 'stages' });
    const { reading } = data;
    if (reading !== null && reading.verdict === 'differs') {
      this.warn(
        `${reading.differing} of ${reading.steps} settings differed from the profile just before the lock. Show them with: gw kiosk status`,
      );
    }
    return { data, ok: concludeLock(data, options) === 'ok' };
  },
  render: renderKioskLock,
});
