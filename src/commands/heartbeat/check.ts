import { Flags } from '@oclif/core';
import { GwCommand, type Outcome } from '../../cli/command.ts';
import { acceptUndecidedFlag, siteFlag, viaThereFlag } from '../../cli/flags.ts';
import { withProgress } from '../../cli/progress.ts';
import { renderHeartbeatCheck } from '../../cli/render/heartbeat.ts';
import type { HeartbeatCheck as Result } from '../../lib/toolkit/heartbeat/heartbeat.result.ts';

export default class HeartbeatCheck extends GwCommand<Result> {
  static override summary =
    'Check the heartbeat: this gateway sends every 2 s, every robot of the site is received, no datagram is rejected.';
  static override description =
    'Listens for 10 s, sends nothing, and compares with fleet.robots and fleet.unicast of the site file. Own broadcasts are checked by the looped-back copies of the kernel, everything else by the counters of gw serve on this machine. Arrival at other robots can be checked only there: run it on the other gateways too. Exits with 1 when a check fails or something was not checked or not decided, unless --accept-undecided.';
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
      default: 10,
    }),
    'accept-undecided': acceptUndecidedFlag,
  };
  static override readonly schema = 'gw/heartbeat-check/1';

  protected override async execute(): Promise<Outcome<Result>> {
    const { flags } = await this.parse(HeartbeatCheck);
    if (flags.via !== undefined) {
      const { heartbeatCheckSchema } = await import('../../lib/toolkit/heartbeat/heartbeat.result.ts');
      return await this.runThere(flags.via, heartbeatCheckSchema);
    }
    const { openToolkit } = await import('../../lib/toolkit/index.ts');
    const { checkHeartbeat } = await import('../../lib/toolkit/heartbeat/check.ts');
    const toolkit = await openToolkit(flags.site);
    const data = await withProgress({ quiet: this.jsonEnabled() }, (progress) =>
      checkHeartbeat(
        toolkit,
        { seconds: flags.seconds },
        { signal: this.signal, onProgress: (text) => progress.say(text) },
      ),
    );
    return await this.judged(data, data.verdict, flags);
  }

  protected override readonly render = renderHeartbeatCheck;
}
