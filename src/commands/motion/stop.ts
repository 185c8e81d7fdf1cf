import { Flags } from '@oclif/core';
import { GwCommand, type Outcome } from '../../cli/command.ts';
import { gatewayFlags, portFlag } from '../../cli/flags.ts';
import { printable } from '../../cli/output.ts';
import { renderMotionStop } from '../../cli/render/motion.ts';
import { exitCodes, GwError } from '../../lib/error/index.ts';
import { onAbort, systemClock } from '../../lib/lifecycle/index.ts';
import type { MotionStop as Result } from '../../lib/toolkit/motion/motion.result.ts';
import { isOtherRobot, NOT_STOPPED, notStopped } from '../../lib/toolkit/motion/not-stopped.ts';

/** A person beside the robot must not wait longer for a connection before pressing the emergency stop. */
const REMIND_AFTER_MS = 2_000;

export default class MotionStop extends GwCommand<Result> {
  static override summary = 'STOP the robot, from anywhere and without sign-in.';
  static override description =
    'Latches a stop at the running gateway, which cancels the current move; then reads the move state that the chassis reports, and waits up to 15 seconds until the poses of the robot show that it stands. Needs no site file: --host names the gateway. On the gateway itself the network and the local command socket are tried concurrently; the first answer counts. When the gateway does not answer at once and there is a site file, the move is also cancelled at the chassis, which latches nothing. Only the emergency stop of the robot works without software: press it unless this command ends with STOPPED. A signed-in person clears the stop with `gw motion clear`. Exits with 0 when the stop is latched and the robot was seen to stand, with 1 when it is latched and the robot moves or was not seen to stand, and with 3 when the stop could not be delivered. Every failure, also of the SSH connection, begins with NOT STOPPED.';
  static override examples = [
    '<%= config.bin %> motion stop',
    '<%= config.bin %> motion stop --host robot-7.local --reason "a child in the corridor"',
    '<%= config.bin %> motion stop --via technician@robot-7.local',
  ];
  static override flags = {
    ...gatewayFlags,
    'operator-port': portFlag('Port of the operator server.'),
    reason: Flags.string({ summary: 'Reason, stored with the stop.', helpValue: 'TEXT', default: 'gw motion stop' }),
  };
  static override readonly schema = 'gw/motion-stop/1';

  /** Why the site file was not used. */
  #trouble: string | null = null;

  protected override async execute(): Promise<Outcome<Result>> {
    const { flags } = await this.parse(MotionStop);
    const { openStopPlace, stopTheRobot } = await import('../../lib/toolkit/motion/stop.ts');
    const { host, 'operator-port': port, site } = flags;
    const reason = flags.reason.slice(0, 200) || 'gw motion stop';
    let isLatched = false;
    const remind = (why: string) => {
      if (!isLatched) this.note(`${NOT_STOPPED} yet: ${why}. Press the emergency stop of the robot now.`);
    };
    using _interrupted = onAbort(this.signal, () => remind('interrupted before a gateway confirmed the stop'));
    using _slow = systemClock.after(REMIND_AFTER_MS, () => remind('no gateway has confirmed the stop so far'));
    let lost: GwError | undefined;
    const data = await this.through(
      flags.via,
      async (ssh, signal) => {
        const { place, trouble } = await openStopPlace({ sitePath: site, host, port }, ssh);
        if (trouble !== null && host === undefined) this.#trouble = `continued without a site file: ${trouble}`;
        const onLatched = () => {
          isLatched = true;
        };
        return stopTheRobot(place, { reason }, { signal, onProgress: (text) => this.note(text), onLatched });
      },
      {
        onLost: (loss) => {
          lost = loss;
        },
      },
    );
    isLatched = true;
    if (this.jsonEnabled() && this.#trouble !== null) this.warn(printable(this.#trouble));
    if (lost !== undefined && data.delivered) this.warn(printable(`after the stop was latched: ${lost.message}`));
    if (data.delivered && isOtherRobot(data)) {
      const message = `The gateway belongs to robot ${data.robot}, and the site file names ${data.meantRobot}.`;
      return { data, ok: false, error: notStopped(new GwError('GATEWAY_OTHER_ROBOT', message)) };
    }
    if (data.delivered) {
      const isMeant = data.robot === (data.meantRobot ?? data.robot);
      const stands = data.move === 'ended' && data.standstill === 'stands';
      return { data, ok: isMeant && stands && data.disobeyed === null };
    }
    const cause = lost ?? new GwError('OPERATOR_NOT_REACHABLE', 'The gateway did not confirm the stop.');
    return { data, ok: false, exitCode: exitCodes.notReachable, error: notStopped(cause) };
  }

  /** Ctrl-C, a usage error and every failure of the SSH connection are stops that failed. */
  protected override explain(error: GwError): GwError {
    return notStopped(error);
  }

  protected override render(data: Result): string {
    const text = renderMotionStop(data);
    // After the verdict: nothing may stand before NOT STOPPED.
    return this.#trouble === null ? text : `${text}\n\n${printable(this.#trouble)}`;
  }
}
