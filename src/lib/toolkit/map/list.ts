import { createChassisClient } from '../../chassis/index.ts';
import { chassisAccess } from '../chassis/access.ts';
import type { CheckContext, Toolkit } from '../toolkit.ts';
import { evidenceOfFields, listedFields } from './contents.ts';
import type { MapList } from './map.result.ts';

/** The stored maps of a chassis and the current map. Throws the errors of the chassis client. */
export async function listMaps(toolkit: Toolkit, { signal, onProgress }: CheckContext): Promise<MapList> {
  const access = await chassisAccess(toolkit);
  const { host, port } = access.endpoint;
  await using client = createChassisClient(access);
  onProgress(`reading the list of maps from ${host}:${port}`);
  const { serial, software, model } = await client.identity(signal);
  const listed = await client.listMaps(signal);
  const current = await client.currentMap(signal);
  return {
    address: { host, port, way: access.dialer.way },
    chassis: { serial, software, model },
    maps: listed.map((item) => ({ ...item, isCurrent: item.id === current?.id })),
    current: current && {
      id: current.id,
      uid: current.uid,
      name: current.name,
      isStored: listed.some(({ id }) => id === current.id),
    },
    fields: evidenceOfFields(listedFields),
  };
}
