import { resolve } from 'node:path';
import { Flags } from '@oclif/core';
import { fromFramework, type Outcome } from '../../cli/command.ts';
import { emptyCoreDumps } from '../../cli/core-dump.ts';
import { durationFlag } from '../../cli/flags.ts';
import { LongRunningCommand } from '../../cli/long-running.ts';
import { onParentLoss } from '../../cli/parent-loss.ts';
import { asGwError, GwError } from '../../lib/error/index.ts';
import { openEventOutput } from '../../lib/gateway/event-output.ts';
import type { LineWriter } from '../../lib/gateway/index.ts';
import type { ProxyEvent, ProxyExit, ProxyResult } from '../../lib/tunnel/index.ts';

/** Deadline for the last lines at the end, in case the reader stalls. */
const FLUSH_WITHIN_MS = 300;

/** Started by the gateway for one support session, never by a person. */
export default class TunnelProxy extends LongRunningCommand<ProxyEvent> {
  static override hidden = true;
  static override summary = 'Run the proxy of one support session (started by the gateway).';
  static override description =
    `Connects the tunnel service to the read-only socket 127.0.0.1:5174; no other target can be named. Takes the tokens from the environment variables GW_TUNNEL_TOKEN and GW_TUNNEL_CLIENT_TOKEN. Prints one JSON object per line on stdout, the last one with the reason of the end.

Ends at the end of stdin, which the gateway holds open, and on SIGTERM, in order and within 1 second. Exit codes: 0 closed by the service; 2 configuration; 3 network lost; 4 refused by the service; 5 own deadline; 70 internal error; 130 ended by the gateway.`;
  static override flags = {
    'tunnel-host': Flags.string({ summary: 'Host of the tunnel service.', helpValue: 'HOST', required: true }),
    'tunnel-port': Flags.integer({
      summary: 'TCP port of the tunnel service.',
      helpValue: 'PORT',
      min: 1,
      max: 65_535,
      default: 443,
    }),
    subprotocol: Flags.string({ summary: 'WebSocket subprotocol.', helpValue: 'NAME', required: true }),
    service: Flags.string({
      summary: 'Service of the session; repeatable.',
      helpValue: 'NAME',
      required: true,
      multiple: true,
    }),
    'ca-file': Flags.string({
      summary: "CA certificates (PEM) instead of Node's and the operating system's.",
      helpValue: 'FILE',
    }),
    timeout: durationFlag({ summary: 'Deadline', min: 1, max: 86_400, required: true }),
  };
  static override readonly schema = 'gw/tunnel-proxy/1';

  #stdout: LineWriter | null = null;
  #stderr: LineWriter | null = null;
  #secrets: readonly string[] = [];
  #withoutTokens: ((text: string, tokens: readonly string[]) => string) | null = null;
  #isEnded = false;

  protected override async execute(): Promise<Outcome<ProxyEvent>> {
    const fault = emptyCoreDumps();
    if (fault !== null) this.note(`gw: a core dump of this process would contain the token (${fault})`);
    const { TOKEN_VARIABLE, CLIENT_TOKEN_VARIABLE, proxyExits, runProxy, withoutTokens } = await import(
      '../../lib/tunnel/index.ts'
    );
    const tokens = { access: take(TOKEN_VARIABLE) ?? '', client: take(CLIENT_TOKEN_VARIABLE) };
    this.#secrets = [tokens.access, tokens.client ?? ''];
    this.#withoutTokens = withoutTokens;
    this.#stdout = openEventOutput(process.stdout.fd, () => '');
    this.#stderr = openEventOutput(process.stderr.fd, () => '');
    const { flags } = await this.parse(TunnelProxy);
    const { systemClock } = await import('../../lib/lifecycle/index.ts');

    const ending = new AbortController();
    const end = () => ending.abort();
    const onCrash = (error: unknown) => {
      const name = error instanceof Error ? error.name : typeof error;
      ending.abort(new GwError('INTERNAL', `internal error (${name})`));
    };
    // Before the listener that ends every command in order, so that the reason is known.
    process.prependListener('uncaughtException', onCrash);
    this.signal.addEventListener('abort', end);
    if (this.signal.aborted) end();
    // Held open by the gateway: its end, by whatever way, is the end of this process.
    process.stdin.on('end', end).on('error', end).on('close', end).resume();
    using _parent = onParentLoss(end);
    const { exit, detail }: ProxyResult = await runProxy(
      {
        host: flags['tunnel-host'],
        port: flags['tunnel-port'],
        subprotocol: flags.subprotocol,
        services: flags.service,
        caFile: flags['ca-file'] === undefined ? null : resolve(flags['ca-file']),
        maxS: flags.timeout,
      },
      {
        tokens,
        clock: systemClock,
        random: systemClock.random,
        signal: ending.signal,
        onEvent: (event) => this.emit(event),
        log: this.#log(),
      },
    );
    process.off('uncaughtException', onCrash);
    return { data: { event: 'ended', exit, detail }, ok: exit === 'closed', exitCode: proxyExits[exit] };
  }

  protected override render(event: ProxyEvent): string {
    return JSON.stringify(event);
  }

  /** Always JSON: the reader is the gateway. */
  protected override emit(event: ProxyEvent): void {
    this.#isEnded ||= event.event === 'ended';
    this.printEvent(event);
  }

  /** Everything was emitted. */
  protected override async print(): Promise<void> {}

  /** Never directly to stdout or stderr: a stalled reader would block this process, and its clock with it. */
  protected override writeOut(text: string): void {
    if (this.#stdout === null) super.writeOut(text);
    else this.#stdout.write(text.endsWith('\n') ? text : `${text}\n`);
  }

  protected override writeErr(text: string): void {
    if (this.#stderr === null) super.writeErr(text);
    else this.#stderr.write(text.endsWith('\n') ? text : `${text}\n`);
  }

  protected override async catch(error: unknown): Promise<void> {
    const known = fromFramework(error) ?? asGwError(error);
    const message = this.#withoutTokens?.(known.message, this.#secrets) ?? known.message;
    const exit: ProxyExit = known.exitCode === 2 ? 'configuration' : 'internal';
    if (!this.#isEnded) this.emit({ event: 'ended', exit, detail: message });
    await super.catch(new GwError(exit === 'internal' ? 'INTERNAL' : known.code, message));
  }

  protected override async finally(error: Error | undefined): Promise<void> {
    await Promise.all([this.#stdout?.end(FLUSH_WITHIN_MS), this.#stderr?.end(FLUSH_WITHIN_MS)]);
    await super.finally(error);
    // stdin is still open, and nothing of a session may outlive its record.
    process.exit();
  }

  #log() {
    const write = (fields: object, message: string) =>
      this.note('error' in fields ? `${message}: ${String(fields.error)}` : message);
    return { debug() {}, info() {}, warn: write, error: write };
  }
}

/** Takes a variable out of the environment of this process. What the kernel shows of it stays until the end. */
function take(name: string): string | null {
  const value = process.env[name];
  delete process.env[name];
  return value === undefined || value === '' ? null : value;
}
