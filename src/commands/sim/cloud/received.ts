import { Flags } from '@oclif/core';
import { command } from '../../../cli/define.ts';
import { simDirFlag } from '../../../cli/flags.ts';
import { renderSimCloudReceived } from '../../../cli/render/sim.ts';

export default command({
  summary: 'Show the messages that the simulated cloud received.',
  description: 'Without --dir it uses the simulator of ./gw-sim, or the last started one if none runs there.',
  examples: [
    '<%= config.bin %> sim cloud received',
    '<%= config.bin %> sim cloud received --topic gw/SIM-0001/telemetry --limit 1 --json',
  ],
  flags: {
    topic: Flags.string({ summary: 'Only messages on this topic.', helpValue: 'TOPIC' }),
    limit: Flags.integer({
      summary: 'Number of messages, the newest.',
      helpValue: 'N',
      min: 1,
      max: 1000,
      default: 20,
    }),
    dir: simDirFlag,
  },
  schema: 'gw/sim-cloud-received/1',
  async run({ flags }) {
    const { dir, topic, limit } = flags;
    const { askCloud } = await import('../../../lib/sim/control/cloud-commands.ts');
    return { data: await askCloud({ dir }, { action: 'received', topic, last: limit }) };
  },
  render: renderSimCloudReceived,
});
