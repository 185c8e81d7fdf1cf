import { command } from '../../cli/define.ts';
import { acceptUndecidedFlag, durationFlag, siteFlag, viaFlag } from '../../cli/flags.ts';
import { renderChassisProbe } from '../../cli/render/chassis.ts';

export default command({
  summary: 'Probe the chassis: identity, software, topics, latency, clock, angle unit, and what the robot reports.',
  description:
    'The robot does not move. Receives topics for at least 2 seconds, and longer while the unit of the pose is not proven (turn the robot by hand, without a pause, through two full circles), the pose has no rate, or emergency stop, control mode, positioning, battery and alerts are not reported. Exits with 1 when a check fails or something was not checked or not decided, unless --accept-undecided.',
  examples: [
    '<%= config.bin %> chassis probe',
    '<%= config.bin %> chassis probe --for 30',
    '<%= config.bin %> chassis probe --via technician@192.0.2.2',
    '<%= config.bin %> chassis probe --site robot-7/site.yaml --json',
  ],
  flags: {
    site: siteFlag,
    via: viaFlag,
    for: durationFlag({
      summary: 'Maximum time to receive topics',
      default: 8,
      min: 2,
      max: 300,
    }),
    'accept-undecided': acceptUndecidedFlag,
  },
  schema: 'gw/chassis-probe/1',
  async run({ flags }) {
    const { probeChassis } = await import('../../lib/toolkit/chassis/probe.ts');
    const data = await this.call(flags, probeChassis, { seconds: flags.for }, { shown: 'stages' });
    return await this.judged(data, data.verdict, flags);
  },
  render: renderChassisProbe,
});
