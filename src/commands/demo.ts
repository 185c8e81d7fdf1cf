import { delimiter, dirname, join } from 'node:path';
import { Flags } from '@oclif/core';
import { GwCommand, type Outcome } from '../cli/command.ts';
import { printable, renderError } from '../cli/output.ts';
import { withProgress } from '../cli/progress.ts';
import { renderStepLine, renderStepProgress } from '../cli/render/checklist.ts';
import { renderDemo, renderRehearsalLine } from '../cli/render/demo.ts';
import { builtInChecklists } from '../cli/shipped.ts';
import { GwError } from '../lib/error/index.ts';
import { firstOf } from '../lib/lifecycle/index.ts';
import { countText } from '../lib/text/index.ts';
import type { Demo as Result } from '../lib/toolkit/demo/demo.result.ts';
import type { DemoRun } from '../lib/toolkit/demo/demo.ts';

/** Environment variables passed to the child processes of the demo. */
const PASSED_ON = ['PATH', 'HOME', 'LANG', 'LC_ALL', 'TZ', 'TMPDIR'] as const;

export default class Demo extends GwCommand<Result> {
  static override summary = 'Commission a simulated robot: simulator, gateway, checklist, signed record.';
  static override description =
    'Starts a simulated robot, enrols it, runs the gateway against it, checks the network, sets the tablet up and locks it, verifies chassis, address, angle units and both sockets against the specification, rehearses the cloud (an outage, a stop, a support session with its audit, a release and its rollback), writes the report and the signed record, and ends the processes it started, with 0 when everything is ok. That takes little more than a minute, and longer on a slow machine: there is no deadline. What takes long is named with what it waits for; Ctrl-C ends it and shows what was done. The record of the last run stays until the new one is complete. All traffic stays on this machine.';
  static override examples = [
    '<%= config.bin %> demo',
    '<%= config.bin %> demo --keep',
    '<%= config.bin %> demo --dir /tmp/demo --json',
  ];
  static override flags = {
    dir: Flags.directory({
      summary: 'Folder for the site file, the report and the logs; created if missing.',
      helpValue: 'DIR',
      default: './gw-demo',
    }),
    keep: Flags.boolean({
      summary: 'Keep what stands running until Ctrl-C, also after a failure, and print the addresses.',
    }),
  };
  static override readonly schema = 'gw/demo/1';

  #isShown = false;
  #problem: GwError | null = null;

  protected override async execute(): Promise<Outcome<Result>> {
    const { flags } = await this.parse(Demo);
    const [{ runDemo }, { controlSim }, { cloudOfSim }, { systemClock }] = await Promise.all([
      import('../lib/toolkit/demo/demo.ts'),
      import('../lib/sim/index.ts'),
      import('../lib/sim/control/cloud-of-sim.ts'),
      import('../lib/lifecycle/index.ts'),
    ]);
    const signals = listenForSignals();
    try {
      const { demo, problem } = await withProgress({ quiet: this.isQuiet }, (progress) =>
        runDemo({
          dir: flags.dir,
          gw: [process.execPath, join(this.config.root, 'bin', 'run.js')],
          root: this.config.root,
          cloudOf: cloudOfSim,
          environment: environmentOfChildren(),
          searchPath: process.env.PATH,
          checklistsDir: builtInChecklists(this.config.root),
          gwVersion: this.config.version,
          clock: systemClock,
          signal: firstOf(this.signal, signals.first),
          killNow: signals.repeated,
          switchFault: async (dir, set) => {
            await controlSim(dir, { set });
          },
          onProgress: (text) => progress.say(printable(text)),
          onWaiting: (text) => progress.line(renderStepProgress(text)),
          onResult: (step, count) => progress.line(`${countText(count)} ${renderStepLine(step)}`),
          onFinding: (finding, count) => progress.line(`${countText(count)} ${renderRehearsalLine(finding)}`),
          ...(flags.keep && {
            onKept: (kept: DemoRun) => {
              progress.stop();
              void this.#show(kept);
            },
          }),
        }),
      );
      if (problem === null) return { data: demo, ok: demo.ok };
      // One that the kept processes outlived was shown with them.
      this.#problem = this.#isShown && problem === this.#problem ? null : problem;
      return { data: demo, ok: false, exitCode: problem.exitCode, error: problem };
    } finally {
      signals.stop();
    }
  }

  async #show({ demo, problem }: DemoRun): Promise<void> {
    this.#problem = problem;
    await this.print(demo, demo.ok, problem?.toJSON() ?? null);
    this.#isShown = true;
  }

  /** What was done, then why it ended. Stdout carries one result. */
  protected override async print(...[data, ok, error]: Parameters<GwCommand<Result>['print']>): Promise<void> {
    if (!this.#isShown) await super.print(data, ok, error);
    if (this.#problem !== null && !this.jsonEnabled()) this.writeErr(renderError(this.#problem));
  }

  protected override render(data: Result): string {
    return renderDemo(data, process.cwd());
  }
}

function environmentOfChildren(): Record<string, string> {
  // A demo that is killed leaves no robot and no gateway behind; bin/run.js reads it.
  const environment: Record<string, string> = { NO_COLOR: '1', GW_LAUNCHER: String(process.pid) };
  for (const name of PASSED_ON) {
    const value = process.env[name];
    if (value !== undefined) environment[name] = value;
  }
  // The launcher finds its Node by name.
  environment.PATH = [dirname(process.execPath), environment.PATH ?? ''].join(delimiter);
  return environment;
}

/** The first signal ends the demo in order, a further one kills its processes; gw ends after them in both cases. */
function listenForSignals() {
  const first = new AbortController();
  const repeated = new AbortController();
  const onSignal = () => {
    if (first.signal.aborted) repeated.abort();
    else first.abort(new GwError('INTERRUPTED', 'Interrupted.'));
  };
  const names = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  for (const name of names) process.on(name, onSignal);
  return {
    first: first.signal,
    repeated: repeated.signal,
    stop() {
      for (const name of names) process.off(name, onSignal);
    },
  };
}
