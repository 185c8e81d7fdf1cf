import { Args, Flags } from '@oclif/core';
import { command } from '../../../cli/define.ts';
import { simDirFlag } from '../../../cli/flags.ts';
import { renderSimCloudSend } from '../../../cli/render/sim.ts';

export default command({
  summary: 'Publish any message from the simulated cloud.',
  description:
    'With QoS 1 and without a check of its content: for testing what a gateway discards. Without --dir it uses the simulator of ./gw-sim, or the last started one if none runs there.',
  examples: [
    `<%= config.bin %> sim cloud send gw/SIM-0001/stop '{"id":"drill-7"}'`,
    `<%= config.bin %> sim cloud send gw/SIM-0001/stop '{"id":"old"}' --retain`,
    '<%= config.bin %> sim cloud send gw/SIM-0001/shadow/update --file desired.json',
  ],
  args: {
    topic: Args.string({ description: 'The topic.', required: true }),
    payload: Args.string({ description: 'The payload as text.' }),
  },
  flags: {
    file: Flags.file({ summary: 'Send the content of this file.', helpValue: 'FILE' }),
    retain: Flags.boolean({ summary: 'Have the broker keep it for later subscriptions.', default: false }),
    dir: simDirFlag,
  },
  schema: 'gw/sim-cloud-send/1',
  async run({ args, flags }) {
    const { dir, file, retain } = flags;
    const { simCloudSend } = await import('../../../lib/sim/control/cloud-commands.ts');
    return { data: await simCloudSend({ dir }, { ...args, file, retain }) };
  },
  render: renderSimCloudSend,
});
