import { GwCommand, type Outcome } from '../../cli/command.ts';
import { acceptUndecidedFlag } from '../../cli/flags.ts';
import { kioskAccess, kioskFlags } from '../../cli/kiosk-flags.ts';
import { withStages } from '../../cli/progress.ts';
import { renderKioskPlan } from '../../cli/render/kiosk.ts';
import type { KioskPlan as Result } from '../../lib/toolkit/kiosk/kiosk.result.ts';

export default class KioskPlan extends GwCommand<Result> {
  static override summary = 'Compare the tablet with its profile, without changes.';
  static override description =
    'Connects by ADB, reads the settings that the profile specifies, and lists the differences that `gw kiosk setup` would change. Exits with 1 when a setting differs, or is not reported, unless --accept-undecided.';
  static override examples = [
    '<%= config.bin %> kiosk plan',
    '<%= config.bin %> kiosk plan --via technician@gateway',
    '<%= config.bin %> kiosk plan --usb --json',
  ];
  static override flags = { ...kioskFlags, 'accept-undecided': acceptUndecidedFlag };
  static override readonly schema = 'gw/kiosk-plan/1';

  protected override async execute(): Promise<Outcome<Result>> {
    const { flags } = await this.parse(KioskPlan);
    const { planKiosk } = await import('../../lib/toolkit/kiosk/plan.ts');
    const access = kioskAccess(flags);
    const data = await this.withToolkit(flags, (toolkit, signal) =>
      withStages({ quiet: this.jsonEnabled() }, (onProgress) => planKiosk(toolkit, access, { signal, onProgress })),
    );
    const verdict = { 'as-planned': 'ok', differs: 'wrong', 'not-checked': 'not-checked' } as const;
    return await this.judged(data, verdict[data.verdict], flags);
  }

  protected override readonly render = renderKioskPlan;
}
