import { Args, Flags } from '@oclif/core';
import { command } from '../../cli/define.ts';
import { gatewayFlags } from '../../cli/flags.ts';
import { renderExportedIncident } from '../../cli/render/incident.ts';
import { passwordFileFlag, readDevicePassword } from '../../cli/secrets.ts';

export default command({
  summary: 'Write one incident to a file: poses, states, orders, alerts and log, without paths of the gateway.',
  description:
    'Three lines: head, body, and the SHA-256 sum of both, which is verified before it is written. It holds addresses of the clients that gave orders, names of stations and texts of the robot, and no password, token or key. Needs a sign-in as `gw incident show`.',
  examples: [
    '<%= config.bin %> incident export 7',
    '<%= config.bin %> incident export 7 --via root@192.0.2.2 --out incident.jsonl',
  ],
  args: { id: Args.integer({ description: 'Number in gw incident list.', required: true, min: 1 }) },
  flags: {
    ...gatewayFlags,
    'password-file': passwordFileFlag,
    out: Flags.file({
      char: 'o',
      summary: 'Write to this file; by default incident-SERIAL-NUMBER.jsonl.',
      helpValue: 'FILE',
    }),
    force: Flags.boolean({ summary: 'Replace an existing file.' }),
  },
  schema: 'gw/incident-export/1',
  async run({ args, flags }) {
    const { exportIncident } = await import('../../lib/toolkit/incident/export.ts');
    const { host, out, force } = flags;
    const password = await readDevicePassword(flags['password-file']);
    return { data: await this.call(flags, exportIncident, { id: args.id, out, force, host, password }) };
  },
  render: renderExportedIncident,
});
