import { Args } from '@oclif/core';
import { GwCommand, type Outcome } from '../../../cli/command.ts';
import { siteFlag, viaThereFlag } from '../../../cli/flags.ts';
import { renderHeartbeatKey } from '../../../cli/render/heartbeat.ts';
import type { HeartbeatKey as Result } from '../../../lib/toolkit/heartbeat/heartbeat.result.ts';

export default class HeartbeatKeyNew extends GwCommand<Result> {
  static override summary = 'Make a site key that signs heartbeats.';
  static override description =
    'Writes 32 random bytes as hex to fleet.keyFile of the site file, or to FILE, readable for its owner only: run it as the user of `gw serve`, also by the login of --via. Never replaces a file. Prints the name of the key, by which robots can be compared, not the key.';
  static override examples = [
    '<%= config.bin %> heartbeat key new',
    '<%= config.bin %> heartbeat key new secrets/heartbeat-next',
    '<%= config.bin %> heartbeat key new --via gw@192.0.2.2 --site /etc/gw/site.yaml',
  ];
  static override args = { file: Args.file({ name: 'FILE', description: 'Key file to write.' }) };
  static override flags = { site: siteFlag, via: viaThereFlag };
  static override readonly schema = 'gw/heartbeat-key-new/1';

  protected override async execute(): Promise<Outcome<Result>> {
    const { args, flags } = await this.parse(HeartbeatKeyNew);
    if (flags.via !== undefined) {
      const { heartbeatKeySchema } = await import('../../../lib/toolkit/heartbeat/heartbeat.result.ts');
      return await this.runThere(flags.via, heartbeatKeySchema);
    }
    const { newHeartbeatKey } = await import('../../../lib/toolkit/heartbeat/key.ts');
    return { data: await newHeartbeatKey({ sitePath: flags.site, file: args.file }) };
  }

  protected override readonly render = renderHeartbeatKey;
}
