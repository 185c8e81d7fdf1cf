import { Flags } from '@oclif/core';
import { GwCommand, type Outcome } from '../../cli/command.ts';
import { acceptUndecidedFlag, durationFlag, siteFlag, viaThereFlag } from '../../cli/flags.ts';
import { withProgress } from '../../cli/progress.ts';
import { renderNetworkCheck } from '../../cli/render/network.ts';
import type { NetworkCheck as Result } from '../../lib/toolkit/network/network.result.ts';

export default class NetworkCheck extends GwCommand<Result> {
  static override summary = 'Check the network of the site: cloud endpoints, open sockets, segments.';
  static override description =
    'Checks from the gateway: run it there, or with --via from elsewhere. Outward: names, TCP, TLS with chain and issuer, ALPN, the MQTT handshake with the enrolled certificate, storage, tunnel and enrolment endpoint, clock, path MTU, latency. Inward: every open socket with its process. With --probe-from also from other hosts, through SSH. Contacts only hosts of the site file, changes nothing, and takes about 10 s. Exits with 1 when a needed check fails or a needed one was not checked or not decided, unless --accept-undecided.';
  static override examples = [
    '<%= config.bin %> network check',
    '<%= config.bin %> network check --via technician@192.0.2.2 --site /etc/gw/site.yaml',
    '<%= config.bin %> network check --probe-from technician@198.51.100.20',
    '<%= config.bin %> network check --probe-from technician@192.0.2.5 --probe-segment robot --json',
  ];
  static override flags = {
    site: siteFlag,
    via: viaThereFlag,
    'probe-from': Flags.string({
      summary: 'Also probe this robot from that host, through SSH. Repeatable.',
      helpValue: 'USER@HOST[:PORT]',
      multiple: true,
      multipleNonGreedy: true,
    }),
    'probe-segment': Flags.option({
      summary: "Segment of the --probe-from hosts: the customer's network (site), or the robot segment.",
      options: ['site', 'robot'] as const,
      default: 'site' as const,
    })(),
    timeout: durationFlag({ summary: 'Timeout per endpoint', default: 10, min: 1, max: 60 }),
    'accept-undecided': acceptUndecidedFlag,
  };
  static override readonly schema = 'gw/network-check/1';

  protected override async execute(): Promise<Outcome<Result>> {
    const { flags } = await this.parse(NetworkCheck);
    if (flags.via !== undefined) {
      const { networkCheckSchema } = await import('../../lib/toolkit/network/network.result.ts');
      return await this.runThere(flags.via, networkCheckSchema);
    }
    const { openToolkit } = await import('../../lib/toolkit/index.ts');
    const { checkNetwork } = await import('../../lib/toolkit/network/check.ts');
    const toolkit = await openToolkit(flags.site);
    const from = await this.secondHosts(flags['probe-from'] ?? []);
    const options = { timeoutMs: flags.timeout * 1_000, from, fromSegment: flags['probe-segment'] };
    // SSH prompts and a progress line cannot share a terminal.
    const quiet = this.isQuiet || from.length > 0;
    const data = await withProgress({ quiet }, (progress) =>
      checkNetwork(toolkit, options, { signal: this.signal, onProgress: (text) => progress.say(text) }),
    );
    return await this.judged(data, data.verdict, flags);
  }

  private async secondHosts(targets: readonly string[]) {
    if (targets.length === 0) return [];
    const { secondHosts } = await import('../../lib/toolkit/network/check/from.ts');
    const { sshOptionsHere } = await import('../../cli/ssh-options.ts');
    return secondHosts(targets, sshOptionsHere(this.signal));
  }

  protected override readonly render = renderNetworkCheck;
}
