import { Flags } from '@oclif/core';
import { command } from '../../cli/define.ts';
import { acceptUndecidedFlag } from '../../cli/flags.ts';
import { kioskAccess, kioskFlags, lockFlags } from '../../cli/kiosk-flags.ts';
import { renderKioskSetup } from '../../cli/render/kiosk.ts';

export default command({
  summary: 'Configure the tablet by its profile, and switch ADB over TCP off.',
  description:
    'For each setting: reads it, changes it if it differs, and reads it back. Settings that match are not touched, so the command can be repeated, and continues after a lost connection. At the end ADB over TCP is switched off, and its port is verified as closed; with --leave-open, or after a failed step, it stays open, and every later report shows that in red. Exits with 1 when a step failed or differs, or the port is not verified as closed; also when a setting is not reported, or the device that refuses is not identified as the tablet, unless --accept-undecided.',
  examples: [
    '<%= config.bin %> kiosk setup',
    '<%= config.bin %> kiosk setup --after-restart --via technician@gateway',
    '<%= config.bin %> kiosk setup --leave-open --json',
  ],
  flags: {
    ...kioskFlags,
    ...lockFlags,
    'leave-open': Flags.boolean({
      summary: 'Leave ADB over TCP open at the end.',
      default: false,
      exclusive: ['after-restart'],
    }),
    'accept-undecided': acceptUndecidedFlag,
  },
  schema: 'gw/kiosk-setup/1',
  async run({ flags }) {
    const { setUpKiosk } = await import('../../lib/toolkit/kiosk/setup.ts');
    const options = {
      ...kioskAccess(flags),
      leaveOpen: flags['leave-open'],
      afterRestart: flags['after-restart'],
      watchMs: flags.for * 1_000,
    };
    const data = await this.call(flags, setUpKiosk, options, { shown: 'stages' });
    if (data.redLine !== null) this.warn(`${data.redLine.detail} ${data.redLine.remedy}`);
    const { concludeLock } = await import('../../lib/toolkit/kiosk/lock.ts');
    const isOpen =
      data.steps.some(({ state }) => state === 'not-checked') ||
      (data.lock !== null && concludeLock(data.lock, options) !== 'ok');
    return await this.judged(data, data.verdict !== 'done' ? 'wrong' : isOpen ? 'not-checked' : 'ok', flags);
  },
  render: renderKioskSetup,
});
