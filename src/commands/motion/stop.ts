import { Flags } from '@oclif/core';
import { GwCommand, type Outcome } from '../../cli/command.ts';
import { hostFlag, numberFlag, siteFlag, viaFlag } from '../../cli/flags.ts';
import { printable } from '../../cli/output.ts';
import { renderMotionStop } from '../../cli/render/motion.ts';
import { exitCodes } from '../../lib/error/index.ts';
import type { MotionStop as Result } from '../../lib/toolkit/motion/motion.result.ts';

export default class MotionStop extends GwCommand<Result> {
  static override summary = 'STOP the robot, from anywhere and without sign-in.';
  static override description =
    'Latches a stop at the running gateway, which cancels the current move; then reads the move state that the chassis reports, and waits up to 15 seconds until the poses of the robot show that it stands. Needs no site file: --host names the gateway. On the gateway itself the network and the local command socket are tried concurrently; the first answer counts. When the gateway does not answer at once and there is a site file, the move is also cancelled at the chassis, which latches nothing. Only the emergency stop of the robot works without software: press it unless this command ends with STOPPED. A signed-in person clears the stop with `gw motion clear`. Exits with 0 when the stop is latched and the robot was seen to stand, with 1 when it is latched and the robot moves or was not seen to stand, and with 3 when the stop could not be delivered.';
  static override examples = [
    '<%= config.bin %> motion stop',
    '<%= config.bin %> motion stop --host robot-7.local --reason "a child in the corridor"',
    '<%= config.bin %> motion stop --via technician@robot-7.local',
  ];
  static override flags = {
    site: siteFlag,
    via: viaFlag,
    host: hostFlag,
    port: numberFlag({ summary: 'Port of the operator server', min: 1, max: 65_535 }),
    reason: Flags.string({ summary: 'Reason, stored with the stop.', helpValue: 'TEXT', default: 'gw motion stop' }),
  };
  static override readonly schema = 'gw/motion-stop/1';

  protected override async execute(): Promise<Outcome<Result>> {
    const { flags } = await this.parse(MotionStop);
    const { stopTheRobot } = await import('../../lib/toolkit/motion/stop.ts');
    const { openStopPlace } = await import('../../lib/toolkit/motion/stop-place.ts');
    const { host, port, site } = flags;
    const reason = flags.reason.slice(0, 200) || 'gw motion stop';
    const data = await this.through(flags.via, async (ssh, signal) => {
      const { place, trouble } = await openStopPlace({ sitePath: site, host, port }, ssh);
      if (trouble !== null && host === undefined) this.warn(printable(`continuing without a site file: ${trouble}`));
      return stopTheRobot(
        place,
        { reason },
        { signal, onProgress: (text) => void process.stderr.write(`${printable(text)}\n`) },
      );
    });
    if (!data.delivered) return { data, ok: false, exitCode: exitCodes.notReachable };
    return { data, ok: data.move === 'ended' && data.standstill === 'stands' };
  }

  protected override render(data: Result): string {
    return renderMotionStop(data);
  }
}
