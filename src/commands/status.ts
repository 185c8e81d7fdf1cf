import { Flags } from '@oclif/core';
import { GwCommand, type Outcome } from '../cli/command.ts';
import { acceptUndecidedFlag, durationFlag, gatewayFlags } from '../cli/flags.ts';
import { createScreen } from '../cli/long-running.ts';
import { onLostOutput } from '../cli/lost-output.ts';
import { changeKey, renderStatus } from '../cli/render/status.ts';
import type { ErrorJson } from '../lib/error/index.ts';
import { systemClock } from '../lib/lifecycle/index.ts';
import type { Status as StatusData } from '../lib/toolkit/gateway/status.result.ts';

export default class Status extends GwCommand<StatusData> {
  static override summary = 'Show this robot on one screen: connected, may it drive, stopped; then each of its parts.';
  static override description =
    'The state of the robot as the running gateway sees it, for people: as on its pages, with the last record and the incidents since. `gw health` is the state of the services of the gateway, for monitoring, and does not say whether the robot may drive. Where no gateway answers, the chassis is asked directly, which shows neither stop nor gate, and the command ends with 3. Exits with 1 when the robot is not connected, stopped, locked or restricted, when a part fails, and, unless --accept-undecided, while a part that is set up is not checked. --watch asks once a second and ends with the last state.';
  static override examples = [
    '<%= config.bin %> status',
    '<%= config.bin %> status --via root@192.0.2.2',
    '<%= config.bin %> status --watch --for 10m',
    '<%= config.bin %> status --host robot-7.local --json',
  ];
  static override flags = {
    ...gatewayFlags,
    watch: Flags.boolean({ summary: 'Follow the state: redrawn in place on a terminal, else printed at each change.' }),
    for: durationFlag({ summary: 'With --watch: end after this time', min: 1, max: 86_400, dependsOn: ['watch'] }),
    'accept-undecided': acceptUndecidedFlag,
  };
  static override readonly schema = 'gw/status/1';
  #hasShown = false;

  protected override async execute(): Promise<Outcome<StatusData>> {
    const { flags } = await this.parse(Status);
    const { host, for: seconds } = flags;
    const { readStatus } = await import('../lib/toolkit/gateway/status.ts');
    const { status, error } = flags.watch
      ? await this.#watch(flags, seconds)
      : await this.call(flags, readStatus, { host });
    const outcome = await this.judged(status, status.verdict, flags);
    // A gateway that does not answer is no verdict that could be accepted.
    if (error !== null) return { ...outcome, ok: false, exitCode: error.exitCode, error };
    return outcome;
  }

  async #watch(
    flags: { site: string; via: string | undefined; host: string | undefined },
    seconds: number | undefined,
  ) {
    const { watchStatus } = await import('../lib/toolkit/gateway/status-watch.ts');
    const isTerminal = process.stdout.isTTY === true && !this.jsonEnabled();
    const screen = isTerminal ? createScreen(process.stdout) : undefined;
    const unread = new AbortController();
    const output = onLostOutput(() => unread.abort(), systemClock);
    let last = '';
    this.#hasShown = true;
    try {
      return await this.withToolkit(flags, (toolkit, signal) =>
        watchStatus(
          toolkit,
          { host: flags.host, seconds },
          { signal: AbortSignal.any([signal, unread.signal]), onProgress: () => {} },
          (status) => {
            if (screen !== undefined) return screen.show(this.render(status));
            const key = changeKey(status);
            if (key === last) return;
            if (this.jsonEnabled()) this.printEvent(status);
            else this.writeOut(`${last === '' ? '' : '\n'}${status.at}\n${this.render(status)}`);
            last = key;
          },
        ),
      );
    } finally {
      output[Symbol.dispose]();
      screen?.end();
    }
  }

  protected override async print(data: StatusData | null, ok: boolean, error: ErrorJson | null): Promise<void> {
    // What was followed has been printed; an error of the command itself has not.
    if (data === null || !this.#hasShown) await super.print(data, ok, error);
  }

  protected override readonly render = renderStatus;
}
