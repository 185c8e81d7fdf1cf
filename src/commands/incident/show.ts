import { Args } from '@oclif/core';
import { command } from '../../cli/define.ts';
import { gatewayFlags } from '../../cli/flags.ts';
import { renderIncident } from '../../cli/render/incident.ts';
import { passwordFileFlag, readDevicePassword } from '../../cli/secrets.ts';

export default command({
  summary: 'Show what happened in one incident: its causes, what changed around them, and the log of that time.',
  description:
    'Reads it from the running gateway, or from a file of `gw incident export`, whose SHA-256 sum is verified: it shows damage, not forgery. The page /service of the gateway replays it on the map. --password-file signs in with the device password; without it the command runs as root or the user of `gw serve`, on the gateway or by the login of --via.',
  examples: [
    '<%= config.bin %> incident show 7',
    '<%= config.bin %> incident show 7 --via root@192.0.2.2',
    '<%= config.bin %> incident show incident-AXR-1-7.jsonl --json',
  ],
  args: {
    incident: Args.string({
      description: 'Number in gw incident list, or a file of gw incident export.',
      required: true,
    }),
  },
  flags: { ...gatewayFlags, 'password-file': passwordFileFlag },
  schema: 'gw/incident-show/1',
  async run({ args, flags }) {
    const { showIncident, showIncidentFile } = await import('../../lib/toolkit/incident/show.ts');
    const { incident } = args;
    if (!/^[0-9]{1,9}$/.test(incident)) return { data: await showIncidentFile(incident) };
    const { host } = flags;
    const password = await readDevicePassword(flags['password-file']);
    return { data: await this.call(flags, showIncident, { id: Number(incident), host, password }) };
  },
  render: renderIncident,
  paged: true,
});
