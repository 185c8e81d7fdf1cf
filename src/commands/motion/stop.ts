import { Flags } from '@oclif/core';
import { GwCommand, type Outcome } from '../../cli/command.ts';
import { durationFlag, gatewayFlags, portFlag } from '../../cli/flags.ts';
import { printable } from '../../cli/output.ts';
import { renderMotionStop } from '../../cli/render/motion.ts';
import { exitCodes, GwError } from '../../lib/error/index.ts';
import { onAbort, systemClock } from '../../lib/lifecycle/index.ts';
import type { MotionStop as Result } from '../../lib/toolkit/motion/motion.result.ts';
import { isOtherRobot, NOT_STOPPED, notStopped } from '../../lib/toolkit/motion/not-stopped.ts';

/** A person beside the robot must not wait for a connection before pressing the emergency stop. */
const REMIND_EVERY_MS = 1_000;
/** A new attempt of the SSH connection, and the time that the gateway has behind it in any case. */
const SSH_AGAIN_MS = 1_000;
const MIN_BEHIND_SSH_MS = 5_000;
/** An SSH host that restarts, or a link that comes and goes; anything else stays as it is. */
const passing: ReadonlySet<string> = new Set(['SSH_NOT_CONNECTED', 'SSH_BAD_ANSWER', 'SSH_LOST']);

interface StopFlags {
  readonly host: string | undefined;
  readonly 'operator-port': number | undefined;
  readonly site: string;
  readonly via: string | undefined;
  readonly timeout: number;
  readonly reason: string;
}

export default class MotionStop extends GwCommand<Result> {
  static override summary = 'STOP the robot, from anywhere and without sign-in.';
  static override description =
    'Latches a stop at the running gateway, which cancels the current move; then reads the move state that the chassis reports, and waits up to 15 seconds until the poses of the robot show that it stands. Needs no site file: --host names the gateway. On the gateway itself the network and the local command socket are tried concurrently; the first answer counts. A gateway that does not answer, because it restarts for example, is tried for --timeout, and so is an SSH host that does not answer; each second the command says that the robot is NOT STOPPED yet and what it tries. When the gateway does not answer at once and there is a site file, the move is also cancelled at the chassis, each second, which latches nothing. Only the emergency stop of the robot works without software: press it unless this command ends with STOPPED. A signed-in person clears the stop with `gw motion clear`. Exits with 0 when the stop is latched and the robot was seen to stand, with 1 when it is latched and the robot moves or was not seen to stand, and with 3 when the stop could not be delivered. Every failure, also of the SSH connection, begins with NOT STOPPED.';
  static override examples = [
    '<%= config.bin %> motion stop',
    '<%= config.bin %> motion stop --host robot-7.local --reason "a child in the corridor"',
    '<%= config.bin %> motion stop --via technician@robot-7.local --timeout 5m',
  ];
  static override flags = {
    ...gatewayFlags,
    'operator-port': portFlag('Port of the operator server.'),
    timeout: durationFlag({ summary: 'How long the stop is tried without an answer', default: 60, min: 1, max: 3_600 }),
    reason: Flags.string({ summary: 'Reason, stored with the stop.', helpValue: 'TEXT', default: 'gw motion stop' }),
  };
  static override readonly schema = 'gw/motion-stop/1';

  /** Why the site file was not used. */
  #trouble: string | null = null;

  protected override async execute(): Promise<Outcome<Result>> {
    const { flags } = await this.parse(MotionStop);
    const { data, lost } = await this.#untilAnswered(flags);
    if (this.jsonEnabled() && this.#trouble !== null) this.warn(printable(this.#trouble));
    if (lost !== null && data.delivered) this.warn(printable(`after the stop was latched: ${lost.message}`));
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

  /** Tries until a gateway has answered or the time is over, also where the SSH connection to it comes and goes. */
  async #untilAnswered(flags: StopFlags): Promise<{ readonly data: Result; readonly lost: GwError | null }> {
    const { openStopPlace, stopTheRobot } = await import('../../lib/toolkit/motion/stop.ts');
    const { host, 'operator-port': port, site, via } = flags;
    const reason = flags.reason.slice(0, 200) || 'gw motion stop';
    const untilMs = systemClock.monotonicMs() + flags.timeout * 1_000;
    const leftMs = () => untilMs - systemClock.monotonicMs();
    let isLatched = false;
    /** What happens before the stop itself is tried, which says so itself; null: it is tried. */
    let before: string | null = null;
    const remind = (why: string) => {
      if (!isLatched) this.note(printable(`${NOT_STOPPED} yet: ${why}. Press the emergency stop of the robot now.`));
    };
    using _interrupted = onAbort(this.signal, () => remind('interrupted before a gateway confirmed the stop'));
    using _before = systemClock.every(REMIND_EVERY_MS, () => {
      if (before !== null) remind(before);
    });
    const isTriedAgain = (error: unknown) =>
      error instanceof GwError && passing.has(error.code) && !this.signal.aborted && leftMs() > 0;
    for (;;) {
      before = via === undefined ? 'reading the site file' : `connecting to ${via} over SSH`;
      const link: { lost: GwError | null } = { lost: null };
      try {
        const data = await this.through(
          via,
          async (ssh, signal) => {
            const { place, trouble } = await openStopPlace({ sitePath: site, host, port }, ssh);
            if (trouble !== null && host === undefined) this.#trouble = `continued without a site file: ${trouble}`;
            before = null;
            const timeoutMs = ssh === undefined ? leftMs() : Math.max(MIN_BEHIND_SSH_MS, leftMs());
            const onProgress = (text: string) => this.note(printable(text));
            const onLatched = () => {
              isLatched = true;
            };
            return await stopTheRobot(place, { reason, timeoutMs }, { signal, onProgress, onLatched });
          },
          {
            onLost: (loss) => {
              link.lost = loss;
            },
          },
        );
        if (data.delivered || !isTriedAgain(link.lost)) return { data, lost: link.lost };
      } catch (error) {
        if (!isTriedAgain(error)) throw error;
      }
      await systemClock.sleep(SSH_AGAIN_MS, this.signal).catch(() => {});
    }
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
