import { Flags } from '@oclif/core';
import type { Outcome } from '../cli/command.ts';
import { siteFlag } from '../cli/flags.ts';
import { LongRunningCommand } from '../cli/long-running.ts';
import { renderServeEvent } from '../cli/render/serve.ts';
import type { ServeEvent } from '../lib/gateway/serve.result.ts';

export default class Serve extends LongRunningCommand<ServeEvent> {
  static override summary = 'Run the gateway daemon of one robot.';
  static override description =
    `Starts what the site file configures: the chassis link, motion, and the operator server on its two sockets. Prints one line per service and \`ready\` on stdout; its log goes to stderr.

SIGTERM, SIGINT or SIGHUP end it in order within 5 seconds, cancelling a move that is under way, with exit code 0; a second signal ends it at once with exit code 130.`;
  static override examples = [
    '<%= config.bin %> serve --site site.yaml',
    '<%= config.bin %> serve --site gw-sim/site.yaml --log-level warn',
    '<%= config.bin %> serve --site site.yaml --json --log-format json',
  ];
  static override flags = {
    site: siteFlag,
    'log-level': Flags.option({
      summary: 'Least important events that are logged.',
      options: ['debug', 'info', 'warn', 'error'] as const,
      default: 'info',
    })(),
    'log-format': Flags.option({
      summary: 'How the log looks; pretty on a terminal, json elsewhere.',
      options: ['pretty', 'json'] as const,
    })(),
  };
  static override readonly schema = 'gw/serve/1';

  protected override async execute(): Promise<Outcome<ServeEvent>> {
    const { flags } = await this.parse(Serve);
    const { createLog, serve } = await import('../lib/gateway/index.ts');
    const format = flags['log-format'] ?? (process.stderr.isTTY ? 'pretty' : 'json');
    const data = await serve({
      sitePath: flags.site,
      log: await createLog({ level: flags['log-level'], format, fd: process.stderr.fd }),
      onEvent: (event) => this.emit(event),
      signal: this.signal,
    });
    return { data };
  }

  protected override render(event: ServeEvent): string {
    return renderServeEvent(event);
  }

  /** Nobody reading its lines is no reason to leave a robot without its gateway. */
  protected override outputClosed(): void {}
}
