import { command } from '../../cli/define.ts';
import { acceptUndecidedFlag } from '../../cli/flags.ts';
import { kioskAccess, kioskFlags } from '../../cli/kiosk-flags.ts';
import { renderKioskPlan } from '../../cli/render/kiosk.ts';

export default command({
  summary: 'Compare the tablet with its profile, without changes.',
  description:
    'Connects by ADB, reads the settings that the profile specifies, and lists the differences that `gw kiosk setup` would change. Exits with 1 when a setting differs, or is not reported, unless --accept-undecided.',
  examples: [
    '<%= config.bin %> kiosk plan',
    '<%= config.bin %> kiosk plan --via technician@gateway',
    '<%= config.bin %> kiosk plan --usb --json',
  ],
  flags: { ...kioskFlags, 'accept-undecided': acceptUndecidedFlag },
  schema: 'gw/kiosk-plan/1',
  async run({ flags }) {
    const { planKiosk } = await import('../../lib/toolkit/kiosk/plan.ts');
    const access = kioskAccess(flags);
    const data = await this.call(flags, planKiosk, access, { shown: 'stages' });
    const verdict = { 'as-planned': 'ok', differs: 'wrong', 'not-checked': 'not-checked' } as const;
    return await this.judged(data, verdict[data.verdict], flags);
  },
  render: renderKioskPlan,
});
