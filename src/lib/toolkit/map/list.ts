import { createChassisClient } from '../../chassis/index.ts';
import { readCurrentMap } from '../../maps/index.ts';
import { chassisAccess } from '../chassis/access.ts';
import type { CheckContext, Toolkit } from '../toolkit.ts';
import { evidenceOfFields, listedFields, viewDamaged } from './contents.ts';
import type { MapList } from './map.result.ts';

/**
 * The stored maps of a chassis and the current map. An entry that cannot be read is in `damaged`. Throws the errors of the
 * chassis client.
 */
export async function listMaps(toolkit: Toolkit, { signal, onProgress }: CheckContext): Promise<MapList> {
  const access = await chassisAccess(toolkit);
  const { host, port } = access.endpoint;
  await using client = createChassisClient(access);
  onProgress(`reading the list of maps from ${host}:${port}`);
  const { serial, software, model } = await client.identity(signal);
  const { maps, damaged } = await client.listMaps(signal);
  const { current, problem } = await readCurrentMap(client, signal);
  return {
    address: { host, port, way: access.dialer.way },
    chassis: { serial, software, model },
    maps: maps.map((item) => ({ ...item, isCurrent: item.id === current?.id })),
    damaged: damaged.map(viewDamaged),
    currentProblem: problem,
    current: current && {
      id: current.id,
      uid: current.uid,
      name: current.name,
      isStored: [...maps, ...damaged].some(({ id }) => id === current.id),
    },
    fields: evidenceOfFields(listedFields),
  };
}
