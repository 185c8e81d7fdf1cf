import { Flags } from '@oclif/core';
import { GwCommand, type Outcome } from '../../cli/command.ts';
import { secondsFlag, siteFlag, viaThereFlag } from '../../cli/flags.ts';
import { withProgress } from '../../cli/progress.ts';
import { renderNetworkCheck } from '../../cli/render/network-check.ts';
import type { NetworkCheck as Result } from '../../lib/toolkit/network/check.result.ts';

export default class NetworkCheck extends GwCommand<Result> {
  static override summary = 'Check the network of the site: outward to the cloud, inward, and who reaches whom.';
  static override description =
    'Looks from the gateway: run it there, or with --via from elsewhere. Outward: names, TCP, TLS with chain and issuer, ALPN, the MQTT handshake with the enrolled certificate, storage, tunnel and enrolment endpoint, clock, packet size, latency. Inward: every socket that listens, with its process. With --from also from other machines, through SSH. Contacts only what the site file names. Ends with 1 when a needed line is wrong.';
  static override examples = [
    '<%= config.bin %> network check',
    '<%= config.bin %> network check --via technician@192.0.2.2 --site /etc/gw/site.yaml',
    '<%= config.bin %> network check --from technician@198.51.100.20',
    '<%= config.bin %> network check --from technician@192.0.2.5 --from-segment robot --json',
  ];
  static override flags = {
    site: siteFlag,
    via: viaThereFlag,
    from: Flags.string({
      summary: 'Also knock at this robot from that machine, through SSH. May be given several times.',
      helpValue: 'USER@HOST',
      multiple: true,
      multipleNonGreedy: true,
    }),
    'from-segment': Flags.option({
      summary: 'Where the machines of --from stand: in the network of the customer, or in the robot segment.',
      options: ['site', 'robot'] as const,
      default: 'site' as const,
    })(),
    timeout: secondsFlag({ summary: 'How long the way to one endpoint may take.', default: 10, min: 1, max: 60 }),
  };
  static override readonly schema = 'gw/network-check/1';

  protected override async execute(): Promise<Outcome<Result>> {
    const { flags } = await this.parse(NetworkCheck);
    if (flags.via !== undefined) {
      const { networkCheckSchema } = await import('../../lib/toolkit/network/check.result.ts');
      return await this.runThere(flags.via, networkCheckSchema);
    }
    const { openToolkit } = await import('../../lib/toolkit/toolkit.ts');
    const { checkNetwork } = await import('../../lib/toolkit/network/check.ts');
    const toolkit = await openToolkit(flags.site);
    const from = await this.secondHosts(flags.from ?? []);
    const options = { timeoutMs: flags.timeout * 1_000, from, fromSegment: flags['from-segment'] };
    // A question of SSH and a moving line do not share a terminal.
    const quiet = this.jsonEnabled() || from.length > 0;
    const data = await withProgress({ quiet }, (progress) =>
      checkNetwork(toolkit, options, { signal: this.signal, onProgress: (text) => progress.say(text) }),
    );
    return { data, ok: data.verdict !== 'wrong' };
  }

  private async secondHosts(targets: readonly string[]) {
    if (targets.length === 0) return [];
    const { secondHosts } = await import('../../lib/toolkit/network/check/from.ts');
    const { sshOptionsHere } = await import('../../cli/ssh-options.ts');
    return secondHosts(targets, sshOptionsHere(this.signal));
  }

  protected override render(data: Result): string {
    return renderNetworkCheck(data);
  }
}
