import { join, resolve } from 'node:path';
import { Flags } from '@oclif/core';
import { forStderr, forStdout, isStderrColoured } from '../cli/colour.ts';
import type { Outcome } from '../cli/command.ts';
import { siteFlag } from '../cli/flags.ts';
import { LongRunningCommand } from '../cli/long-running.ts';
import { renderServeEvent } from '../cli/render/gateway.ts';
import { builtPages, generatedSchemas } from '../cli/shipped.ts';
import { exitCodes } from '../lib/error/index.ts';
import type { LineWriter } from '../lib/gateway/index.ts';
import type { ServeEvent } from '../lib/gateway/serve.result.ts';

/** Deadline for the last lines at the end, in case the reader stalls. */
const FLUSH_WITHIN_MS = 300;

export default class Serve extends LongRunningCommand<ServeEvent> {
  static override summary = 'Run the gateway daemon of one robot.';
  static override description =
    `Starts the configured services: chassis link, motion, and the operator server on its two sockets. Prints one line per service and \`ready\` on stdout; the log goes to stderr.

SIGTERM, SIGINT, SIGHUP, SIGQUIT and the other signals of people and programs end it in order within 5 seconds, cancelling a move in progress, with exit code 0; a second signal ends it at once with exit code 130. SIGUSR1 is ignored. An invalid command line or file ends it with 78: systemd does not start it again.`;
  static override examples = [
    '<%= config.bin %> serve --site site.yaml',
    '<%= config.bin %> serve --site gw-sim/site.yaml --log-level warn',
    '<%= config.bin %> serve --site site.yaml --json --log-format json',
  ];
  static override flags = {
    site: siteFlag,
    'log-level': Flags.option({
      summary: 'Minimum level of logged events.',
      options: ['debug', 'info', 'warn', 'error'] as const,
      default: 'info',
    })(),
    'log-format': Flags.option({
      summary: 'Log format; by default pretty on a terminal, json elsewhere.',
      options: ['pretty', 'json'] as const,
    })(),
  };
  static override readonly schema = 'gw/serve/1';

  #stdout: LineWriter | null = null;
  #stderr: LineWriter | null = null;
  #errorPriority = { stdout: '', stderr: '' };

  protected override async execute(): Promise<Outcome<ServeEvent>> {
    const { flags } = await this.parse(Serve);
    const { isJournal, openEventOutput, openLog, priorities, serve, serviceManagerOf } = await import(
      '../lib/gateway/index.ts'
    );
    const { JOURNAL_STREAM: journal } = process.env;
    const priorityOf = (fd: number) => (isJournal(fd, journal) ? priorities.error : '');
    this.#errorPriority = { stdout: priorityOf(process.stdout.fd), stderr: priorityOf(process.stderr.fd) };
    const format = flags['log-format'] ?? (process.stderr.isTTY ? 'pretty' : 'json');
    const { log, writer, setting } = await openLog({
      level: flags['log-level'],
      format,
      isColoured: isStderrColoured(),
      fd: process.stderr.fd,
      isJournal: this.#errorPriority.stderr !== '',
    });
    this.#stderr = writer;
    this.#stdout = openEventOutput(process.stdout.fd, (lines) => this.#dropped(lines));
    const data = await serve({
      sitePath: flags.site,
      assetsDir: builtPages(this.config.root),
      contractsDir: generatedSchemas(this.config.root),
      version: this.config.version,
      program: [process.execPath, join(this.config.root, 'bin', 'run.js')],
      launched: launchedBy(process.env),
      manager: serviceManagerOf(process.env, process.pid),
      log,
      logState: () => writer.state(),
      logSetting: setting,
      onEvent: (event) => this.emit(event),
      signal: this.signal,
    });
    return { data };
  }

  protected override readonly render = renderServeEvent;

  /** The envelope of an error; no event has this field. */
  protected override printEvent(event: object): void {
    if ('error' in event) this.writeOut(`${this.#errorPriority.stdout}${JSON.stringify(event)}`);
    else super.printEvent(event);
  }

  protected override async catch(error: unknown): Promise<void> {
    await super.catch(error);
    if (process.exitCode === exitCodes.usage) process.exitCode = exitCodes.configuration;
  }

  /** Never directly to stdout or stderr: a stalled reader would block the daemon or make its memory grow. */
  protected override writeOut(text: string): void {
    if (this.#stdout === null) super.writeOut(text);
    else this.#stdout.write(forStdout(text.endsWith('\n') ? text : `${text}\n`));
  }

  protected override writeErr(text: string): void {
    if (this.#stderr === null) super.writeErr(text);
    else this.#stderr.write(forStderr(`${text.trimEnd()}\n`.replace(/^(?=.)/gm, this.#errorPriority.stderr)));
  }

  #dropped(lines: number): string {
    const event: ServeEvent = { event: 'dropped', lines };
    return `${this.jsonEnabled() ? JSON.stringify(event) : forStdout(this.render(event))}\n`;
  }

  protected override async finally(error: Error | undefined): Promise<void> {
    await Promise.all([this.#stdout?.end(FLUSH_WITHIN_MS), this.#stderr?.end(FLUSH_WITHIN_MS)]);
    await super.finally(error);
  }

  /** The daemon continues without a reader of stdout. */
  protected override outputClosed(): void {}
}

/** What packaging/launch.sh says of itself; null when gw was started without it. */
function launchedBy({ GW_RELEASES: dir, GW_RELEASE: folder }: NodeJS.ProcessEnv) {
  return dir === undefined || dir === '' ? null : { dir: resolve(dir), folder: folder || null };
}
