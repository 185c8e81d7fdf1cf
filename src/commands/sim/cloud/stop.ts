import { Flags } from '@oclif/core';
import { command } from '../../../cli/define.ts';
import { simDirFlag, simSerialFlag } from '../../../cli/flags.ts';
import { renderSimCloudStop } from '../../../cli/render/sim.ts';

export default command({
  summary: 'Send a stop from the simulated cloud.',
  description:
    'The message has a new id each time. Without --dir it uses the simulator of ./gw-sim, or the last started one if none runs there.',
  examples: [
    '<%= config.bin %> sim cloud stop',
    "<%= config.bin %> sim cloud stop --reason 'fire alarm' --who 'shift lead'",
  ],
  flags: {
    reason: Flags.string({ summary: 'Reason for the people on site.', helpValue: 'TEXT' }),
    who: Flags.string({ summary: 'Who stops the robot.', helpValue: 'NAME' }),
    serial: simSerialFlag,
    dir: simDirFlag,
  },
  schema: 'gw/sim-cloud-stop/1',
  async run({ flags }) {
    const { dir, reason, who: by, serial } = flags;
    const { askCloud } = await import('../../../lib/sim/control/cloud-commands.ts');
    return { data: await askCloud({ dir }, { action: 'stop', reason, by, serial }) };
  },
  render: renderSimCloudStop,
});
