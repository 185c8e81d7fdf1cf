import { Args, Flags } from '@oclif/core';
import { command } from '../../cli/define.ts';
import { renderSiteInit } from '../../cli/render/site.ts';
import { GwError } from '../../lib/error/index.ts';
import type { Question } from '../../lib/toolkit/site/init.ts';

export default command({
  summary: 'Create the site file of one robot.',
  description:
    'Prompts for the required values, with the flags as defaults, and writes a commented file. With --yes uses the flags without prompts.',
  examples: [
    '<%= config.bin %> site init',
    '<%= config.bin %> site init robot-7/site.yaml --yes --name "Lobby, robot 7" --chassis-host robot-7.local --serial SN0007',
  ],
  args: { file: Args.string({ description: 'Output file.', default: 'site.yaml' }) },
  flags: {
    yes: Flags.boolean({ char: 'y', summary: 'Use the flags without prompts.' }),
    name: Flags.string({ summary: 'Display name of this site and robot.', helpValue: 'TEXT' }),
    'chassis-host': Flags.string({ summary: 'Host name or address of the chassis.', helpValue: 'HOST' }),
    serial: Flags.string({ summary: 'Serial number of the chassis.', helpValue: 'SERIAL' }),
    mac: Flags.string({ summary: 'MAC address of the DHCP reservation of the chassis.', helpValue: 'MAC' }),
    'operator-port': Flags.string({ summary: 'TCP port of the operator server (5173).', helpValue: 'PORT' }),
    force: Flags.boolean({ summary: 'Replace an existing file.' }),
  },
  schema: 'gw/site-init/1',
  async run({ args, flags }) {
    const { initSite } = await import('../../lib/toolkit/site/init.ts');
    const { name, 'chassis-host': host, serial, mac, force } = flags;
    const options = {
      path: args.file,
      force,
      given: { name, host, serial, mac, operatorPort: flags['operator-port'] },
    };
    if (flags.yes) return { data: await initSite(options) };
    if (!process.stdin.isTTY) {
      throw new GwError('USAGE', 'Prompts need a terminal.', {
        remedy: 'Pass --yes with --name, --chassis-host and --serial.',
      });
    }
    const { askLine, interruption } = await import('../../cli/ask.ts');
    const asking = { signal: this.signal, interrupted: 'Interrupted; nothing was written.' };
    const ask = async ({ text, ...accepted }: Question) => {
      const answer = await askLine(text, asking, accepted);
      if (answer === undefined) throw interruption(asking);
      return answer;
    };
    return { data: await initSite({ ...options, ask }) };
  },
  render: renderSiteInit,
});
