import { isIPv4 } from 'node:net';
import { Errors, Flags } from '@oclif/core';
import { GwCommand, type Outcome } from '../../cli/command.ts';
import { siteFlag, viaThereFlag } from '../../cli/flags.ts';
import { withProgress } from '../../cli/progress.ts';
import { renderHeartbeatSend } from '../../cli/render/heartbeat.ts';
import type { HeartbeatSend as Result } from '../../lib/toolkit/heartbeat/heartbeat.result.ts';

export default class HeartbeatSend extends GwCommand<Result> {
  static override summary = 'Send test heartbeats, to check a network path.';
  static override description =
    'Signed with the site key, sent by broadcast and to fleet.unicast, or only to the --to addresses. No robot lists the sender as a neighbour; lastTest in GET /api/nachbarn of a robot shows the last one received. Exits with 1 when a destination failed.';
  static override examples = [
    '<%= config.bin %> heartbeat send --once',
    '<%= config.bin %> heartbeat send --once --to 192.0.2.17',
    '<%= config.bin %> heartbeat send --seconds 60',
    '<%= config.bin %> heartbeat send --once --via technician@192.0.2.2 --site /etc/gw/site.yaml',
  ];
  static override flags = {
    site: siteFlag,
    via: viaThereFlag,
    once: Flags.boolean({ summary: 'Send one heartbeat.', exactlyOne: ['once', 'seconds'] }),
    seconds: Flags.integer({
      summary: 'Send one heartbeat every 2 seconds for this time.',
      helpValue: 'SECONDS',
      min: 2,
      max: 3_600,
      exactlyOne: ['once', 'seconds'],
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
  };
  static override readonly schema = 'gw/heartbeat-send/1';

  protected override async execute(): Promise<Outcome<Result>> {
    const { flags } = await this.parse(HeartbeatSend);
    if (flags.via !== undefined) {
      const { heartbeatSendSchema } = await import('../../lib/toolkit/heartbeat/heartbeat.result.ts');
      return await this.runThere(flags.via, heartbeatSendSchema);
    }
    const { openToolkit } = await import('../../lib/toolkit/index.ts');
    const { sendHeartbeat } = await import('../../lib/toolkit/heartbeat/send.ts');
    const toolkit = await openToolkit(flags.site);
    const data = await withProgress({ quiet: this.jsonEnabled() }, (progress) =>
      sendHeartbeat(
        toolkit,
        { to: flags.to, seconds: flags.seconds },
        { signal: this.signal, onProgress: (text) => progress.say(text) },
      ),
    );
    return { data, ok: data.ways.every(({ failure }) => failure === null) };
  }

  protected override readonly render = renderHeartbeatSend;
}
