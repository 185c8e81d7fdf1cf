import { Flags } from '@oclif/core';
import { GwCommand, type Outcome } from '../../../cli/command.ts';
import { simDirFlag, simSerialFlag } from '../../../cli/flags.ts';
import { renderSimCloudStop } from '../../../cli/render/sim.ts';
import type { SimCloudStop as Result } from '../../../lib/sim/control/control.result.ts';

export default class SimCloudStop extends GwCommand<Result> {
  static override summary = 'Send a stop from the simulated cloud.';
  static override description =
    'The message has a new id each time. Without --dir it uses the simulator of ./gw-sim, or the last started one if none runs there.';
  static override examples = [
    '<%= config.bin %> sim cloud stop',
    "<%= config.bin %> sim cloud stop --reason 'fire alarm' --by 'shift lead'",
  ];
  static override flags = {
    reason: Flags.string({ summary: 'Reason for the people on site.', helpValue: 'TEXT' }),
    by: Flags.string({ summary: 'Who stops the robot.', helpValue: 'NAME' }),
    serial: simSerialFlag,
    dir: simDirFlag,
  };
  static override readonly schema = 'gw/sim-cloud-stop/1';

  protected override async execute(): Promise<Outcome<Result>> {
    const { flags } = await this.parse(SimCloudStop);
    const { dir, reason, by, serial } = flags;
    const { askCloud } = await import('../../../lib/sim/control/cloud-commands.ts');
    return { data: await askCloud({ dir }, { action: 'stop', reason, by, serial }) };
  }

  protected override readonly render = renderSimCloudStop;
}
