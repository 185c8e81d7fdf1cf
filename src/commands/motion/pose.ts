import { Flags } from '@oclif/core';
import { command } from '../../cli/define.ts';
import { gatewayFlags, numberFlag } from '../../cli/flags.ts';
import { renderMotionPose } from '../../cli/render/motion.ts';
import { passwordFileFlag, readDevicePassword } from '../../cli/secrets.ts';
import { GwError } from '../../lib/error/index.ts';
import type { StandsAt } from '../../lib/toolkit/motion/pose.ts';

interface PoseFlags {
  readonly x?: number | undefined;
  readonly y?: number | undefined;
  readonly yaw?: number | undefined;
  readonly at?: string | undefined;
  readonly 'at-dock': boolean;
}

export default command({
  summary: 'Set the pose of the standing robot, for example after a map restore.',
  description:
    'The robot does not drive, but it uses this pose from then on: with a wrong position or heading the next order drives to a wrong place. Name the station or the dock where the robot stands (--at, --at-dock), or the pose itself. The order passes the gate of the running gateway, needs a signed-in person (--password-file, or root or the user of `gw serve`, on the gateway or by the login of --via), and succeeds only when the chassis reports the pose. Exits with 1 otherwise.',
  examples: [
    '<%= config.bin %> motion pose --at-dock --robot-stands-there',
    '<%= config.bin %> motion pose --at A --robot-stands-there --password-file device-password.txt',
    '<%= config.bin %> motion pose --x 1.5 --y -2 --yaw 90 --robot-stands-there --json',
  ],
  usage:
    'motion pose (--at STATION | --at-dock | --x NUMBER --y NUMBER --yaw NUMBER) --robot-stands-there [-s FILE] [--via USER@HOST[:PORT]] [--host HOST] [--password-file FILE] [--json]',
  flags: {
    ...gatewayFlags,
    at: Flags.string({
      summary: 'The robot stands at this station of the site file.',
      helpValue: 'STATION',
      exclusive: ['at-dock', 'x', 'y', 'yaw'],
    }),
    'at-dock': Flags.boolean({
      summary: 'The robot stands at the dock of the site file.',
      default: false,
      exclusive: ['at', 'x', 'y', 'yaw'],
    }),
    x: numberFlag({ summary: 'Metres on the current map', min: -10_000, max: 10_000 }),
    y: numberFlag({ summary: 'Metres on the current map', min: -10_000, max: 10_000 }),
    yaw: numberFlag({ summary: 'Heading in degrees, counter-clockwise, 0 along +x', min: -360, max: 360 }),
    'robot-stands-there': Flags.boolean({
      summary: 'Confirm that the robot stands there with this heading: it will use this pose.',
      default: false,
    }),
    'password-file': passwordFileFlag,
  },
  schema: 'gw/motion-pose/1',
  async run({ flags }) {
    const at = standsAt(flags);
    if (!flags['robot-stands-there']) {
      throw new GwError('RISK_NOT_ACCEPTED', 'This sets the pose that the robot drives by.', {
        remedy: 'Check the position and the heading of the robot, then add --robot-stands-there.',
      });
    }
    const { host } = flags;
    const password = await readDevicePassword(flags['password-file']);
    const { setPose } = await import('../../lib/toolkit/motion/pose.ts');
    const { lossOfPose } = await import('../../lib/toolkit/motion/followed-run.ts');
    const data = await this.call(flags, setPose, { at, host, password }, { ifLost: lossOfPose });
    return { data, ok: data.state === 'succeeded' };
  },
  render: renderMotionPose,
});

function standsAt({ x, y, yaw, at, 'at-dock': isAtDock }: PoseFlags): StandsAt {
  if (isAtDock) return { dock: true };
  if (at !== undefined) return { station: at };
  if (x === undefined || y === undefined || yaw === undefined) {
    throw new GwError('USAGE', 'Incomplete pose: a station, the dock, or x, y and yaw together.', {
      remedy: 'Name --at STATION, --at-dock, or all of --x, --y and --yaw.',
    });
  }
  return { xM: x, yM: y, yawDeg: yaw };
}
