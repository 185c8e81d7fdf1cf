import { Flags } from '@oclif/core';
import { GwCommand, type Outcome } from '../../cli/command.ts';
import { siteFlag, viaThereFlag } from '../../cli/flags.ts';
import { withProgress } from '../../cli/progress.ts';
import { renderHeartbeatCheck } from '../../cli/render/heartbeat-check.ts';
import type { HeartbeatCheck as Result } from '../../lib/toolkit/heartbeat-check.result.ts';

export default class HeartbeatCheck extends GwCommand<Result> {
  static override summary =
    'Check that the robots of the site hear each other here: by broadcast, by unicast, rightly.';
  static override description =
    'Listens for some seconds, sends nothing, and holds what it hears against fleet.robots and fleet.unicast of the site file. Beside a gw serve of the same machine it also asks that one. Ends with 1 when something is wrong.';
  static override examples = [
    '<%= config.bin %> heartbeat check',
    '<%= config.bin %> heartbeat check --seconds 30 --json',
    '<%= config.bin %> heartbeat check --via technician@192.0.2.2 --site /etc/gw/site.yaml',
  ];
  static override flags = {
    site: siteFlag,
    via: viaThereFlag,
    seconds: Flags.integer({
      summary: 'How long to listen.',
      helpValue: 'SECONDS',
      min: 3,
      max: 600,
      default: 8,
    }),
  };
  static override readonly schema = 'gw/heartbeat-check/1';

  protected override async execute(): Promise<Outcome<Result>> {
    const { flags } = await this.parse(HeartbeatCheck);
    if (flags.via !== undefined) {
      const { heartbeatCheckSchema } = await import('../../lib/toolkit/heartbeat-check.result.ts');
      return await this.runThere(flags.via, heartbeatCheckSchema);
    }
    const { openToolkit } = await import('../../lib/toolkit/toolkit.ts');
    const { checkHeartbeat } = await import('../../lib/toolkit/heartbeat-check.ts');
    const toolkit = await openToolkit(flags.site);
    const data = await withProgress({ quiet: this.jsonEnabled() }, (progress) =>
      checkHeartbeat(
        toolkit,
        { seconds: flags.seconds },
        { signal: this.signal, onProgress: (text) => progress.say(text) },
      ),
    );
    return { data, ok: data.verdict === 'ok' };
  }

  protected override render(data: Result): string {
    return renderHeartbeatCheck(data);
  }
}
