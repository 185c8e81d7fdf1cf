import { Args } from '@oclif/core';
import { command } from '../../../cli/define.ts';
import { siteFlag, viaThereFlag } from '../../../cli/flags.ts';
import { renderHeartbeatKey } from '../../../cli/render/heartbeat.ts';

export default command({
  summary: 'Make a site key that signs heartbeats.',
  description:
    'Writes 32 random bytes as hex to fleet.keyFile of the site file, or to FILE, readable for its owner only: run it as the user of `gw serve`, also by the login of --via. Never replaces a file. Prints the name of the key, by which robots can be compared, not the key.',
  examples: [
    '<%= config.bin %> heartbeat key new',
    '<%= config.bin %> heartbeat key new secrets/heartbeat-next',
    '<%= config.bin %> heartbeat key new --via gw@192.0.2.2 --site /etc/gw/site.yaml',
  ],
  args: { file: Args.file({ name: 'FILE', description: 'Key file to write.' }) },
  flags: { site: siteFlag, via: viaThereFlag },
  schema: 'gw/heartbeat-key-new/1',
  there: async () => (await import('../../../lib/toolkit/heartbeat/heartbeat.result.ts')).heartbeatKeySchema,
  async run({ args, flags }) {
    const { newHeartbeatKey } = await import('../../../lib/toolkit/heartbeat/key.ts');
    return { data: await newHeartbeatKey({ sitePath: flags.site, file: args.file }) };
  },
  render: renderHeartbeatKey,
});
