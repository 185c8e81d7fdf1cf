import { Args } from '@oclif/core';
import { GwCommand, type Outcome } from '../../../cli/command.ts';
import { siteFlag } from '../../../cli/flags.ts';
import { renderHeartbeatKey } from '../../../cli/render/heartbeat.ts';
import type { HeartbeatKey as Result } from '../../../lib/toolkit/heartbeat/key.result.ts';

export default class HeartbeatKeyNew extends GwCommand<Result> {
  static override summary = 'Make a key that signs the heartbeat of a site.';
  static override description =
    'Writes 32 bytes of chance as hex to the file that fleet.keyFile of the site file names, or to FILE, readable for its owner only. A file that is there is never replaced. The key is not shown; what is shown is its name, by which two robots can be compared.';
  static override examples = [
    '<%= config.bin %> heartbeat key new',
    '<%= config.bin %> heartbeat key new secrets/heartbeat-next',
  ];
  static override args = { file: Args.file({ name: 'FILE', description: 'Where to write it.' }) };
  static override flags = { site: siteFlag };
  static override readonly schema = 'gw/heartbeat-key-new/1';

  protected override async execute(): Promise<Outcome<Result>> {
    const { args, flags } = await this.parse(HeartbeatKeyNew);
    const { newHeartbeatKey } = await import('../../../lib/toolkit/heartbeat/key.ts');
    return { data: await newHeartbeatKey({ sitePath: flags.site, file: args.file }) };
  }

  protected override render(data: Result): string {
    return renderHeartbeatKey(data);
  }
}
