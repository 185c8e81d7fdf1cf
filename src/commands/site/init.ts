import { Args, Flags } from '@oclif/core';
import { command } from '../../cli/define.ts';
import { printable } from '../../cli/output.ts';
import { renderSiteInit } from '../../cli/render/site.ts';
import { GwError } from '../../lib/error/index.ts';
import type { Endpoint } from '../../lib/net/index.ts';
import type { Question } from '../../lib/toolkit/site/init.ts';
import type { ChassisReading } from '../../lib/toolkit/site/read-chassis.ts';

/** Said before the next question, so that a person sees whose number is offered. */
function readingText({ seen, error }: ChassisReading, { host, port }: Endpoint): string {
  if (error !== null)
    return `No chassis is read at ${host}:${port}: ${error.message.replace(/\.?$/, '.')} Type its values.`;
  const { serial, model, software } = seen;
  return `The chassis at ${host}:${port} reports serial ${serial}, model ${model ?? 'not reported'}, software ${software ?? 'not reported'}.`;
}

export default command({
  summary: 'Create the site file of one robot.',
  description:
    'Prompts for the required values, with the flags as defaults, and writes a commented file. When the chassis answers at its address, its serial number is the default, and its model, software, maps and the points of the current map stand in the file as comments: what a point is for is not known, so a person names the stations. With --yes it uses the flags without prompts, and reads the chassis only where --serial is missing.',
  examples: [
    '<%= config.bin %> site init',
    '<%= config.bin %> site init robot-7/site.yaml --yes --name "Lobby, robot 7" --chassis-host robot-7.local --serial SN0007',
    '<%= config.bin %> site init --yes --name "Lobby" --chassis-host robot-7.local',
  ],
  args: { file: Args.string({ description: 'Output file.', default: 'site.yaml' }) },
  flags: {
    yes: Flags.boolean({ char: 'y', summary: 'Use the flags without prompts.' }),
    name: Flags.string({ summary: 'Display name of this site and robot.', helpValue: 'TEXT' }),
    'chassis-host': Flags.string({ summary: 'Host name or address of the chassis.', helpValue: 'HOST' }),
    'chassis-port': Flags.string({ summary: 'TCP port of the chassis (8090).', helpValue: 'PORT' }),
    serial: Flags.string({
      summary: 'Serial number of the chassis; by default the one that it reports.',
      helpValue: 'SERIAL',
    }),
    mac: Flags.string({ summary: 'MAC address of the DHCP reservation of the chassis.', helpValue: 'MAC' }),
    'operator-port': Flags.string({ summary: 'TCP port of the operator server (5173).', helpValue: 'PORT' }),
    'tablet-serial': Flags.string({
      summary: 'Serial number of the tablet, by which gw finds it.',
      helpValue: 'SERIAL',
    }),
    'tablet-mac': Flags.string({
      summary: 'MAC address of the tablet in the WLAN of the robot segment, by which gw finds it.',
      helpValue: 'MAC',
    }),
    force: Flags.boolean({ summary: 'Replace an existing file.' }),
  },
  schema: 'gw/site-init/1',
  async run({ args, flags }) {
    const { initSite } = await import('../../lib/toolkit/site/init.ts');
    const { name, 'chassis-host': host, serial, mac, force } = flags;
    const options = {
      path: args.file,
      force,
      given: {
        ...{ name, host, port: flags['chassis-port'], serial, mac, operatorPort: flags['operator-port'] },
        ...{ tabletSerial: flags['tablet-serial'], tabletMac: flags['tablet-mac'] },
      },
      read: async (endpoint: Endpoint) => {
        const [{ readChassis }, { directDialer }, { systemClock }] = await Promise.all([
          import('../../lib/toolkit/site/read-chassis.ts'),
          import('../../lib/net/index.ts'),
          import('../../lib/lifecycle/index.ts'),
        ]);
        return await readChassis(endpoint, { dialer: directDialer, clock: systemClock, signal: this.signal });
      },
      onRead: (reading: ChassisReading, endpoint: Endpoint) => {
        // Without questions the error itself says it.
        if (reading.error === null || !flags.yes) this.note(printable(readingText(reading, endpoint)));
      },
    };
    if (flags.yes) return { data: await initSite(options) };
    const { askLine, canAsk, interruption } = await import('../../cli/ask.ts');
    // The prompts are on stderr: in a file they would be waited for unseen.
    if (!canAsk()) {
      throw new GwError('USAGE', 'Prompts need a terminal.', {
        remedy: 'Pass --yes with --name and --chassis-host, and --serial where the chassis is not reachable.',
      });
    }
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
