import { Flags } from '@oclif/core';
import { command } from '../../cli/define.ts';
import { acceptUndecidedFlag, siteFlag, viaFlag } from '../../cli/flags.ts';
import { renderChassisAddress } from '../../cli/render/chassis-address.ts';
import { exitCodes } from '../../lib/error/index.ts';
import type { ChassisAddress as Result } from '../../lib/toolkit/chassis/chassis.result.ts';

export default command({
  summary: 'Check whether the chassis answers at its address, and name the kind of failure.',
  description:
    'Takes at most two seconds; the robot does not move. Exits with 3 when the chassis does not answer, with 4 when another chassis answers, with 1 when --check-mac finds another hardware address, or none, unless --accept-undecided.',
  examples: [
    '<%= config.bin %> chassis address',
    '<%= config.bin %> chassis address --check-mac',
    '<%= config.bin %> chassis address --via technician@192.0.2.2',
    '<%= config.bin %> chassis address --site robot-7/site.yaml --json',
  ],
  flags: {
    site: siteFlag,
    via: viaFlag,
    'check-mac': Flags.boolean({
      summary: "Compare this machine's neighbour table with chassis.mac of the site file.",
      default: false,
    }),
    'accept-undecided': acceptUndecidedFlag,
  },
  schema: 'gw/chassis-address/1',
  async run({ flags }) {
    const { findChassis } = await import('../../lib/toolkit/chassis/address.ts');
    const data = await this.call(flags, findChassis, { mac: flags['check-mac'] });
    return data.state === 'connected'
      ? await this.judged(data, data.mac.verdict, flags)
      : { data, ok: false, exitCode: exitOf(data.state) };
  },
  render: renderChassisAddress,
});

function exitOf(state: Exclude<Result['state'], 'connected'>): number {
  return state === 'wrong-device' ? exitCodes.refused : exitCodes.notReachable;
}
