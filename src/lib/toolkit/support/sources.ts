import { readLoosely } from '../../document/index.ts';
import { readBounded } from '../../lifecycle/index.ts';
import { readCloudDiscarded } from '../cloud/discarded.ts';
import { readCloudStatus } from '../cloud/status.ts';
import { examine } from '../doctor/doctor.ts';
import type { DoctorHost } from '../doctor/host.ts';
import { readGatewayHealth } from '../gateway/health.ts';
import { readGatewayLog } from '../gateway/log.ts';
import { readStatus } from '../gateway/status.ts';
import { listIncidents } from '../incident/list.ts';
import { fetchIncident } from '../incident/show.ts';
import type { CheckContext, Toolkit } from '../toolkit.ts';

export interface Source {
  readonly name: string;
  readonly holds: string;
  /** Data, or a text with named values. An error is the reason why it is missing. */
  readonly read: () => Promise<{ readonly data: unknown } | { readonly text: string } | { readonly lines: string }>;
}

const MAX_SITE_BYTES = 256 * 1024;
const MAX_INCIDENTS = 5;

/** What a developer needs of this robot. `toolkit` is null without a valid site file. */
export async function sourcesOf(
  sitePath: string,
  toolkit: Toolkit | null,
  host: DoctorHost,
  context: CheckContext,
): Promise<Source[]> {
  const robot = (work: (toolkit: Toolkit) => Promise<unknown>) => async () => {
    if (toolkit === null) throw new Error('no valid site file');
    return { data: await work(toolkit) };
  };
  return [
    {
      name: 'version.json',
      holds: 'gw, Node.js, system',
      read: async () => ({ data: versionOf(host) }),
    },
    {
      name: 'site.yaml',
      holds: 'the site file without its comments',
      read: async () => ({ text: readLoosely(await readText(sitePath, MAX_SITE_BYTES)).withoutComments }),
    },
    { name: 'doctor.json', holds: 'gw doctor', read: async () => ({ data: await examine(sitePath, host) }) },
    { name: 'status.json', holds: 'gw status', read: robot(async (it) => (await readStatus(it, {}, context)).status) },
    { name: 'health.json', holds: 'gw health', read: robot((it) => readGatewayHealth(it, {}, context)) },
    {
      name: 'log.json',
      holds: 'gw log: the last events and acts',
      read: robot((it) => readGatewayLog(it, {}, context)),
    },
    {
      name: 'cloud.json',
      holds: 'gw cloud status, with the outbox',
      read: robot((it) => readCloudStatus(it, {}, context)),
    },
    {
      name: 'discarded.json',
      holds: 'gw cloud discarded, without payloads',
      read: robot((it) => readCloudDiscarded(it, {}, context)),
    },
    { name: 'incidents.json', holds: 'gw incident list', read: robot((it) => listIncidents(it, {}, context)) },
    ...(await incidentSources(toolkit, context)),
  ];
}

async function incidentSources(toolkit: Toolkit | null, context: CheckContext): Promise<Source[]> {
  if (toolkit === null) return [];
  // Why there is no list, the source before says.
  const list = await listIncidents(toolkit, {}, context).catch(() => null);
  context.signal.throwIfAborted();
  return (list?.incidents ?? []).slice(0, MAX_INCIDENTS).map(({ id }) => ({
    name: `incidents/${id}.jsonl`,
    holds: `incident ${id}: poses, states, orders, alerts and log`,
    read: async () => ({ lines: (await fetchIncident(toolkit, id, {}, context)).text }),
  }));
}

function versionOf({ version, folder, node, name }: DoctorHost) {
  const { platform, arch } = process;
  return { gw: version, folder, node, host: name, platform, architecture: arch };
}

async function readText(path: string, maxBytes: number): Promise<string> {
  const read = await readBounded(path, maxBytes);
  if (read.kind !== 'bytes')
    throw new Error(read.kind === 'too-large' ? `${read.size} bytes` : `not a file: ${read.kind}`);
  return Buffer.from(read.bytes).toString('utf8');
}
