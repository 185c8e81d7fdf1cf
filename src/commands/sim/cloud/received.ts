import { Flags } from '@oclif/core';
import { GwCommand, type Outcome } from '../../../cli/command.ts';
import { simDirFlag } from '../../../cli/flags.ts';
import { renderSimCloudReceived } from '../../../cli/render/sim.ts';
import type { SimCloudReceived as Result } from '../../../lib/sim/control/control.result.ts';

export default class SimCloudReceived extends GwCommand<Result> {
  static override summary = 'Show the messages that the simulated cloud received.';
  static override description =
    'Without --dir it uses the simulator of ./gw-sim, or the last started one if none runs there.';
  static override examples = [
    '<%= config.bin %> sim cloud received',
    '<%= config.bin %> sim cloud received --topic gw/SIM-0001/telemetry --last 1 --json',
  ];
  static override flags = {
    topic: Flags.string({ summary: 'Only messages on this topic.', helpValue: 'TOPIC' }),
    last: Flags.integer({ summary: 'Number of messages, the latest.', helpValue: 'N', min: 1, max: 1000, default: 20 }),
    dir: simDirFlag,
  };
  static override readonly schema = 'gw/sim-cloud-received/1';

  protected override async execute(): Promise<Outcome<Result>> {
    const { flags } = await this.parse(SimCloudReceived);
    const { dir, topic, last } = flags;
    const { askCloud } = await import('../../../lib/sim/control/cloud-commands.ts');
    return { data: await askCloud({ dir }, { action: 'received', topic, last }) };
  }

  protected override readonly render = renderSimCloudReceived;
}
