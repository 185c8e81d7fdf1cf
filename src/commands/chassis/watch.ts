import type { Outcome } from '../../cli/command.ts';
import { durationFlag, siteFlag, viaFlag } from '../../cli/flags.ts';
import { LongRunningCommand } from '../../cli/long-running.ts';
import { renderChassisEvent, renderChassisView } from '../../cli/render/chassis.ts';
import type { ChassisWatchEvent } from '../../lib/toolkit/chassis/watch.result.ts';

export default class ChassisWatch extends LongRunningCommand<ChassisWatchEvent> {
  static override summary = 'Watch the chassis live: connection, pose, move, battery, alerts, each with its age.';
  static override description =
    'Redraws in place on a terminal, writes a line a second elsewhere, and one JSON object a line with --json. Ends with Ctrl-C. A lost connection is shown and does not end the command.';
  static override examples = [
    '<%= config.bin %> chassis watch',
    '<%= config.bin %> chassis watch --for 10 --json',
    '<%= config.bin %> chassis watch --via technician@192.0.2.2',
    '<%= config.bin %> chassis watch | tee shift.log',
  ];
  static override flags = {
    site: siteFlag,
    via: viaFlag,
    for: durationFlag({ summary: 'End after this time; without it, run until Ctrl-C', min: 1, max: 86_400 }),
  };
  static override readonly schema = 'gw/chassis-watch/1';

  protected override async execute(): Promise<Outcome<ChassisWatchEvent>> {
    const { flags } = await this.parse(ChassisWatch);
    const { watchChassis } = await import('../../lib/toolkit/chassis/watch.ts');
    const options = { seconds: flags.for, everyMs: this.redraws ? 250 : 1_000 };
    const data = await this.shown(renderChassisView, (onView) =>
      this.withToolkit(flags, (toolkit, signal) => watchChassis(toolkit, options, { signal }, onView)),
    );
    return { data };
  }

  protected override readonly render = renderChassisEvent;
}
