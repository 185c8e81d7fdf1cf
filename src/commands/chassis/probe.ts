import { GwCommand, type Outcome } from '../../cli/command.ts';
import { acceptUndecidedFlag, secondsFlag, siteFlag, viaFlag } from '../../cli/flags.ts';
import { renderChassisProbe } from '../../cli/render/chassis.ts';
import type { ChassisProbe as Result } from '../../lib/toolkit/chassis/chassis.result.ts';

export default class ChassisProbe extends GwCommand<Result> {
  static override summary =
    'Probe the chassis: identity, software, topics, latency, clock, angle unit, and what the robot reports.';
  static override description =
    'The robot does not move. Receives topics for at least 2 seconds, and longer while the unit of the pose is not proven (turn the robot by hand, without a pause, through two full circles), the pose has no rate, or emergency stop, control mode, positioning, battery and alerts are not reported. Exits with 1 when a check fails or something was not checked or not decided, unless --accept-undecided.';
  static override examples = [
    '<%= config.bin %> chassis probe',
    '<%= config.bin %> chassis probe --seconds 30',
    '<%= config.bin %> chassis probe --via technician@192.0.2.2',
    '<%= config.bin %> chassis probe --site robot-7/site.yaml --json',
  ];
  static override flags = {
    site: siteFlag,
    via: viaFlag,
    seconds: secondsFlag({
      summary: 'Maximum time to receive topics',
      default: 8,
      min: 2,
      max: 300,
    }),
    'accept-undecided': acceptUndecidedFlag,
  };
  static override readonly schema = 'gw/chassis-probe/1';

  protected override async execute(): Promise<Outcome<Result>> {
    const { flags } = await this.parse(ChassisProbe);
    const { probeChassis } = await import('../../lib/toolkit/chassis/probe.ts');
    const { withProgress } = await import('../../cli/progress.ts');
    const data = await this.withToolkit(flags, (toolkit, signal) =>
      withProgress({ quiet: this.jsonEnabled() }, (progress) => {
        const printed = new Set<string>();
        const onProgress = (text: string) => {
          progress.say(text);
          // Without a terminal each stage is printed once, not every second.
          const stage = text.replace(/\d+/g, '');
          if (!printed.has(stage)) progress.line(text);
          printed.add(stage);
        };
        return probeChassis(toolkit, { seconds: flags.seconds }, { signal, onProgress });
      }),
    );
    return await this.judged(data, data.verdict, flags);
  }

  protected override readonly render = renderChassisProbe;
}
