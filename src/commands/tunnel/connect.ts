import { Flags } from '@oclif/core';
import type { Outcome } from '../../cli/command.ts';
import { siteFlag } from '../../cli/flags.ts';
import { LongRunningCommand } from '../../cli/long-running.ts';
import { renderTunnelConnect } from '../../cli/render/tunnel.ts';
import type { TunnelConnectEvent } from '../../lib/toolkit/tunnel/tunnel.result.ts';

export default class TunnelConnect extends LongRunningCommand<TunnelConnectEvent> {
  static override summary = "Open the robot's read-only page through a tunnel, from the technician's machine.";
  static override description =
    'Connects to the tunnel service as the source of an opened tunnel, and listens on 127.0.0.1, with one port for each service. The source access token is read from GW_TUNNEL_TOKEN, or typed without echo; never from an argument. It works once: a lost connection is opened again with a client token that exists only in this run, for 2 minutes. Changes nothing on the robot. Ends with Ctrl-C, or when the service closes the tunnel; both exit with 0. Exits with 3 when the service is not reachable, with 4 when it refuses the token.';
  static override examples = [
    '<%= config.bin %> tunnel connect --service web --listen web=8080',
    '<%= config.bin %> tunnel connect --service web --tunnel-host tunnel.example.com --region eu-central-1',
    'GW_TUNNEL_TOKEN=… <%= config.bin %> tunnel connect --service web --site robot-7/site.yaml --json',
  ];
  static override flags = {
    site: siteFlag,
    service: Flags.string({
      summary: 'Service of the tunnel; up to three times.',
      helpValue: 'NAME',
      multiple: true,
      multipleNonGreedy: true,
      required: true,
    }),
    listen: Flags.string({
      summary: 'Port on 127.0.0.1 for a service; without it, any free port.',
      helpValue: 'NAME=PORT',
      multiple: true,
      multipleNonGreedy: true,
    }),
    region: Flags.string({
      summary: 'Region in which the tunnel was opened; refused if the site file or the host name has another one.',
      helpValue: 'REGION',
    }),
    'tunnel-host': Flags.string({
      summary: 'Host of the tunnel service, instead of cloud.tunnel of the site file, which is then not read.',
      helpValue: 'HOST',
    }),
    'tunnel-port': Flags.integer({
      summary: 'TCP port of the tunnel service; 443 if not given.',
      helpValue: 'PORT',
      min: 1,
      max: 65_535,
      dependsOn: ['tunnel-host'],
    }),
    subprotocol: Flags.string({
      summary: 'WebSocket subprotocol that the service requires; securetunneling-3.0 if not given.',
      helpValue: 'NAME',
      dependsOn: ['tunnel-host'],
    }),
    'ca-file': Flags.file({
      summary: 'CA certificates (PEM) of the tunnel service, instead of cloud.caFile of the site file.',
      helpValue: 'FILE',
    }),
  };
  static override readonly schema = 'gw/tunnel-connect/1';

  protected override async execute(): Promise<Outcome<TunnelConnectEvent>> {
    const { flags } = await this.parse(TunnelConnect);
    const { service: services, listen = [], region, subprotocol, 'tunnel-host': host, 'tunnel-port': port } = flags;
    const { openToolkit } = await import('../../lib/toolkit/index.ts');
    const { systemClock } = await import('../../lib/lifecycle/index.ts');
    const { connectTunnel } = await import('../../lib/toolkit/tunnel/connect.ts');
    const site = host === undefined ? (await openToolkit(flags.site)).site : null;
    const { signal } = this;
    const data = await connectTunnel(
      { site, clock: systemClock },
      {
        services,
        listen,
        region,
        host,
        port,
        subprotocol,
        caFile: flags['ca-file'],
        readToken: () => this.#readToken(),
      },
      { signal, onProgress: (text) => this.note(text) },
      (event) => this.emit(event),
    );
    return { data };
  }

  /** From the environment, a hidden prompt, or the first line of stdin. */
  async #readToken(): Promise<string> {
    const { TOKEN_VARIABLE } = await import('../../lib/tunnel/index.ts');
    const { readHidden } = await import('../../cli/secrets.ts');
    const interrupted = 'Interrupted; the token was not used.';
    return (
      process.env[TOKEN_VARIABLE] || (await readHidden('Source access token:', { signal: this.signal, interrupted }))
    );
  }

  protected override readonly render = renderTunnelConnect;
}
