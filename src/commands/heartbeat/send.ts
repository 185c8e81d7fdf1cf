import { isIPv4 } from 'node:net';
import { Errors, Flags } from '@oclif/core';
import { command } from '../../cli/define.ts';
import { durationFlag, siteFlag, viaThereFlag } from '../../cli/flags.ts';
import { renderHeartbeatSend } from '../../cli/render/heartbeat.ts';

export default command({
  summary: 'Send test heartbeats, to check a network path.',
  description:
    'Signed with the site key, sent by broadcast and to fleet.unicast, or only to the --to addresses. No robot lists the sender as a neighbour; lastTest in GET /api/nachbarn of a robot shows the last one received. Exits with 1 when a destination failed.',
  examples: [
    '<%= config.bin %> heartbeat send --once',
    '<%= config.bin %> heartbeat send --once --to 192.0.2.17',
    '<%= config.bin %> heartbeat send --for 1m',
    '<%= config.bin %> heartbeat send --once --via technician@192.0.2.2 --site /etc/gw/site.yaml',
  ],
  flags: {
    site: siteFlag,
    via: viaThereFlag,
    once: Flags.boolean({ summary: 'Send one heartbeat.', exactlyOne: ['once', 'for'] }),
    for: durationFlag({
      summary: 'Send one heartbeat every 2 seconds for this time',
      min: 2,
      max: 3_600,
      exactlyOne: ['once', 'for'],
    }),
    to: Flags.custom<string>({
      summary: 'Send only to this IPv4 address. Repeatable.',
      helpValue: 'ADDRESS',
      multiple: true,
      parse: async (input) => {
        if (isIPv4(input)) return input;
        throw new Errors.CLIError(`--to requires an IPv4 address, not '${input}'`);
      },
    })(),
  },
  schema: 'gw/heartbeat-send/1',
  there: async () => (await import('../../lib/toolkit/heartbeat/heartbeat.result.ts')).heartbeatSendSchema,
  async run({ flags }) {
    const { sendHeartbeat } = await import('../../lib/toolkit/heartbeat/send.ts');
    const data = await this.call(flags, sendHeartbeat, { to: flags.to, seconds: flags.for }, { shown: 'spinner' });
    return { data, ok: data.ways.every(({ failure }) => failure === null) };
  },
  render: renderHeartbeatSend,
});
