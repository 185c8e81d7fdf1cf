import type { ChassisClient } from '../../../chassis/index.ts';
import { GwError } from '../../../error/index.ts';
import { loadEvidenceFile } from '../../../evidence/index.ts';
import { quote } from '../../../json/index.ts';
import { frameOf, readOverlays } from '../../../overlays/index.ts';
import type { ChassisAccess } from '../../chassis/access.ts';
import { viewRunningMap } from '../../map/change.ts';
import type { RunningMapView } from '../../map/running-map.result.ts';
import type { CheckContext } from '../../toolkit.ts';
import { listed, mapOf, type OpenedOverlays, type OpenOverlaysOptions } from './model.ts';

const CURRENT = 'current';

/** The chassis client is loaded for a chassis only, so that a file is read without delay. */
export async function openLive(
  wanted: string,
  { openToolkit, needImage, compareRunning = false }: OpenOverlaysOptions,
  context: CheckContext,
): Promise<OpenedOverlays> {
  const toolkit = await openToolkit();
  const { chassisAccess } = await import('../../chassis/access.ts');
  const { createChassisClient } = await import('../../../chassis/index.ts');
  const access = await chassisAccess(toolkit);
  const client = createChassisClient(access);
  try {
    const opened = await readLive(client, { wanted, needImage, evidenceFile: toolkit.site.evidenceFile }, context);
    if (wanted !== CURRENT || !compareRunning) return opened;
    const running = await readRunning(client, access, context);
    const isOther = opened.map !== null && running.mapId !== null && running.mapId !== opened.map.id;
    const detail = 'another map was selected while the overlays were read';
    return { ...opened, running: isOther ? { ...running, verdict: 'not-checked', detail, difference: null } : running };
  } finally {
    await client[Symbol.asyncDispose]();
  }
}

/** Timeout for the latched message, which arrives immediately. Project decision. */
const ANNOUNCE_MS = 3_000;

async function readRunning(
  client: ChassisClient,
  access: ChassisAccess,
  { signal, onProgress }: CheckContext,
): Promise<RunningMapView> {
  const { checkRunningMap } = await import('../../../maps/index.ts');
  onProgress('comparing the running map with the stored one');
  const running = await checkRunningMap({ client, access, watched: null, announceMs: ANNOUNCE_MS, signal });
  signal.throwIfAborted();
  return viewRunningMap(running);
}

async function readLive(
  client: ChassisClient,
  { wanted, needImage, evidenceFile }: { wanted: string; needImage: boolean; evidenceFile: string },
  { signal, onProgress }: CheckContext,
): Promise<OpenedOverlays> {
  const { host, port } = client.endpoint;
  onProgress(`reading the map from ${host}:${port}`);
  const { serial, software } = await client.identity(signal);
  const where = `${serial} at ${host}:${port}`;
  const id = wanted === CURRENT ? await currentMapId(client, where, signal) : wanted;
  const bytes = await readMap(client, id, where, signal);
  const warnings: string[] = [];
  let image: Uint8Array | null = null;
  if (needImage) {
    onProgress('reading the picture of the map');
    image = await readPicture(client, id, warnings, signal);
  }
  const overlays = readOverlays(bytes, 'map');
  const map = mapOf(overlays, /^-?\d{1,15}$/.test(id) ? Number(id) : null);
  return {
    label: `map ${[id, ...(map?.name ? [quote(map.name)] : [])].join(' ')} of ${where}`,
    overlays,
    frame: frameOf(overlays.map, image),
    image,
    map,
    chassis: { serial, software },
    device: { serial, software, records: await loadEvidenceFile(evidenceFile) },
    running: null,
    warnings,
  };
}

async function currentMapId(client: ChassisClient, where: string, signal: AbortSignal): Promise<string> {
  const current = await client.currentMap(signal);
  if (current === null) {
    throw new GwError('MAP_UNKNOWN', `No current map on ${where}.`, {
      remedy: 'Name a map by its id; `gw map list` shows the ids.',
    });
  }
  if (current.id === -1) {
    const name = current.name === null ? '' : ` (${quote(current.name)})`;
    throw new GwError(
      'MAP_UNKNOWN',
      `The current map${name} on ${where} has the id -1: it was set from data and never stored, so its overlays cannot be read.`,
      { remedy: 'Store it on the chassis first, or name a stored map by its id; `gw map list` shows them.' },
    );
  }
  return String(current.id);
}

async function readMap(client: ChassisClient, id: string, where: string, signal: AbortSignal): Promise<Uint8Array> {
  try {
    return await client.mapBytes(id, signal);
  } catch (error) {
    if (!(error instanceof GwError) || (error.code !== 'CHASSIS_REFUSED' && error.code !== 'CHASSIS_BAD_ANSWER')) {
      throw error;
    }
    const { maps, damaged } = await client.listMaps(signal);
    const item = [...maps, ...damaged].find((one) => String(one.id) === id);
    // The address is right: this chassis has answered, and lists the map.
    if (item !== undefined) {
      const { failureDetail } = await import('../../../chassis/index.ts');
      const { unreadableMap } = await import('../../../maps/index.ts');
      throw unreadableMap({ entry: null, id: item.id, name: item.name, why: failureDetail(error) });
    }
    if (error.details?.status !== 404) throw error;
    throw new GwError('MAP_UNKNOWN', `No map ${id} on ${where}.`, {
      tried: error.tried,
      remedy: `Name one of these maps: ${listed(maps.map((map) => `${map.id} ${quote(map.name)}`))}.`,
      cause: error,
    });
  }
}

/** The picture may be large and the radio slow; without it only the check of its edges is missing. */
async function readPicture(
  client: ChassisClient,
  id: string,
  warnings: string[],
  signal: AbortSignal,
): Promise<Uint8Array | null> {
  try {
    return await client.mapPng(id, signal);
  } catch (error) {
    if (signal.aborted || !(error instanceof GwError)) throw error;
    warnings.push(`The picture of the map was not read: ${error.message} Features outside of it are not checked.`);
    return null;
  }
}
