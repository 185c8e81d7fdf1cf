import { asGwError } from '../../error/index.ts';
import { systemClock, withDeadline } from '../../lifecycle/index.ts';
import { directDialer } from '../../net/index.ts';
import type { OwnedSocket } from '../../net/probe/index.ts';
import { type ClockHealth, gatewayHealthSchema } from '../../operator/index.ts';
import { READ_ONLY_PORT, type Site } from '../../site/index.ts';
import type { Line } from '../finding.result.ts';
import { notApplicable, notChecked, ok, wrong } from '../finding.ts';
import { operatorAccess } from '../operator/access.ts';
import type { DoctorLine } from './doctor.result.ts';
import { type DoctorHost, linesOf, orNotChecked, start } from './host.ts';

const DEFAULT_PORT = 5173;
const ANSWER_MS = 3_000;

/** Both ports of the gateway, free or held by `gw serve`, and whether the one that runs is of this version. */
export async function gatewayLines(site: Site | null, host: DoctorHost): Promise<DoctorLine[]> {
  const port = site?.operator.port ?? DEFAULT_PORT;
  const sockets = await host.sockets().catch((error: unknown) => asGwError(error));
  const [full, readOnly] = await Promise.all([look(port, sockets, host), look(READ_ONLY_PORT, sockets, host)]);
  const ofSite = site === null ? ' (the default, without a site file)' : '';
  return [
    ...linesOf('ports', [
      await orNotChecked('port-operator', `Port ${port}${ofSite}`, async () => portLine('port-operator', port, full)),
      await orNotChecked('port-read-only', `Port ${READ_ONLY_PORT}`, async () =>
        portLine('port-read-only', READ_ONLY_PORT, readOnly),
      ),
    ]),
    ...linesOf('versions', [await versionLine(full.version ?? readOnly.version, site, host)]),
    ...linesOf('clock', [comparedLine(full.clock ?? readOnly.clock, site)]),
  ];
}

interface PortState {
  /** null: the tables of the kernel cannot be read. */
  readonly holders: readonly OwnedSocket[] | null;
  readonly why: string | null;
  /** Of the gateway that answers there; null: none does. */
  readonly version: string | null;
  /** Of that gateway; null: none answers, or it does not report it. */
  readonly clock: ClockHealth | null;
}

async function look(
  port: number,
  sockets: readonly OwnedSocket[] | Error,
  { signal }: Pick<DoctorHost, 'signal'>,
): Promise<PortState> {
  const holders =
    sockets instanceof Error ? null : sockets.filter((one) => one.protocol === 'tcp' && one.port === port);
  const why = sockets instanceof Error ? sockets.message : null;
  if (holders?.length === 0) return { holders, why, version: null, clock: null };
  const place = { site: { operator: { port } }, dialer: directDialer, clock: systemClock };
  const context = { signal: withDeadline(signal, ANSWER_MS), onProgress: () => {} };
  const health = await operatorAccess(place, context)
    .ask(
      'GET',
      '/api/health',
      gatewayHealthSchema.pick({ version: true, status: true, upForMs: true, clock: true }).loose(),
    )
    .catch(() => null);
  signal.throwIfAborted();
  return { holders, why, version: health?.version ?? null, clock: health?.clock ?? null };
}

function portLine(id: string, port: number, { holders, why, version }: PortState): Line {
  const line = start(id, `Port ${port}`);
  if (version !== null) return ok(line, `held by gw serve ${version}`);
  if (holders === null) return notChecked(line, `the open sockets cannot be read: ${why}`);
  if (holders.length === 0) return ok(line, 'free for gw serve');
  const owners = new Set(holders.flatMap(({ owners: all }) => all.map(({ name, pid }) => `${name} (process ${pid})`)));
  const who = owners.size === 0 ? 'a program that this user cannot see' : [...owners].join(', ');
  const remedy = `sudo ss -ltnp 'sport = :${port}' shows it; end it, since gw serve needs this port`;
  return wrong(line, `held by ${who}, which does not answer as gw serve`, remedy);
}

/** By the running gateway, which alone reads the time of others. */
function comparedLine(clock: ClockHealth | null, site: Site | null): Line {
  const line = start('clock-compared', 'Clock beside that of several endpoints');
  if (site !== null && site.time === undefined) {
    return notApplicable(line, 'the site file has no `time`, so the gateway compares it with none');
  }
  if (clock === null) return notChecked(line, 'no gateway on this machine reports it', 'sudo systemctl start gw');
  const { status, detail, ageMs, remedy } = clock;
  const shown = ageMs === null ? detail : `${detail} Compared ${Math.floor(ageMs / 60_000)} min ago.`;
  if (status === 'ok') return ok(line, shown);
  return status === 'wrong'
    ? wrong(line, shown, remedy ?? 'Set it with timedatectl.')
    : notChecked(line, shown, remedy);
}

async function versionLine(running: string | null, site: Site | null, host: DoctorHost): Promise<Line> {
  const line = start('version-running', 'Version of the running gateway');
  if (running === null) return notChecked(line, 'no gateway answers on this machine', 'sudo systemctl start gw');
  if (running === host.version) return ok(line, `gw ${running}, as this command`);
  const detail = `gw ${running} runs, and this command is ${host.version}`;
  if (site?.cloud?.release !== undefined) {
    const { readReleaseStatus } = await import('../release/status.ts');
    const { current } = await readReleaseStatus({ site });
    if (current?.version === running) return ok(line, `${detail}; ${running} is the current release`);
  }
  return wrong(line, detail, 'sudo systemctl restart gw');
}
